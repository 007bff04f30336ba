import { erasedMark } from '../../platform/db/erasure.store.ts';
import {
  duck,
  fromInstantSql,
  joinSql,
  quoteIdentifier,
  quoteLiteral,
  jsonPointer,
  toInstantSql,
  type SqlText,
} from '../log-engine/sql/sql-text.ts';
import { castSql } from '../log-engine/sql/field-sql.ts';
import { keyTextSql, parquetFilesSql, textFilesSql, type SegmentFile } from '../log-engine/sql/table-sql.ts';
import { listStoredFields, type CatalogField, type StoredColumn } from '../log-store/catalog/catalog.ts';

/** A value to erase from the events that contain it in `field`, a dotted name. */
export type ErasureTarget = { field: string; value: string };

/** Returns the condition that `_event` contains the value in the field, either as a key with dots or as a path. */
export function containsValueSql({ field, value }: ErasureTarget): SqlText {
  const valueAt = (keys: string[]): SqlText => duck`json_extract_string(_event, ${quoteLiteral(jsonPointer(keys))})`;
  return duck`coalesce(${valueAt([field])}, ${valueAt(field.split('.'))}) = ${quoteLiteral(value)}`;
}

/** Wraps a SELECT so that the value is replaced wherever it occurs in the matching events. */
function erasureSql(from: SqlText, erased: ErasureTarget): SqlText {
  const inJson = JSON.stringify(erased.value).slice(1, -1);
  const spellings = [...new Set([inJson, erased.value, inJson.replaceAll('/', '\\/')])];
  const without = (text: SqlText): SqlText =>
    spellings.reduce<SqlText>(
      (inner, spelling) => duck`replace(${inner}, ${quoteLiteral(spelling)}, ${quoteLiteral(erasedMark)})`,
      text,
    );
  const replaced = (text: SqlText): SqlText =>
    duck`CASE WHEN ${containsValueSql(erased)} THEN ${without(duck`CAST(${text} AS VARCHAR)`)} ELSE CAST(${text} AS VARCHAR) END`;
  return duck`SELECT ${replaced(duck`_id`)} AS _id, _time, _ingested, ${replaced(duck`_event`)} AS _event FROM (${from})`;
}

type CompactInput = {
  files: SegmentFile[];
  fields: readonly CatalogField[];
  target: string;
  erased?: ErasureTarget | undefined;
};

/** Returns the statement that writes segments into one Parquet file with the system columns and the stored columns of the catalog. */
export function compactSql({ files, fields, target, erased }: CompactInput): SqlText {
  const stored = listStoredFields(fields);
  const keys = stored.flatMap((field) => field.keys);
  const listIndex = new Map(keys.map((key, index) => [key, index + 1]));
  const columns = stored.map((field) => {
    const text = keyTextSql(field, (key) => duck`_text[${listIndex.get(key)!}]`, duck`_event`);
    return duck`${storedValueSql(field.stored, text)} AS ${quoteIdentifier(field.stored.name)}`;
  });
  const pointers = joinSql(keys.map((key) => quoteLiteral(jsonPointer([key]))));
  const list = joinSql([
    duck`_id, ${toInstantSql(duck`_time`)} AS _time, ${toInstantSql(duck`_ingested`)} AS _ingested, _event`,
    ...columns,
  ]);
  const texts = keys.length > 0 ? duck`json_extract_string(_event, [${pointers}])` : duck`NULL`;
  const sources = erased ? erasureSql(sourcesSql(files), erased) : sourcesSql(files);
  return duck`COPY (SELECT ${list} FROM (SELECT *, ${texts} AS _text FROM (${sources}))) TO ${quoteLiteral(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`;
}

/** Returns the value that files have of a text. JSON is stored as its text, and times with the zone that makes other engines read them as UTC. */
function storedValueSql({ type }: StoredColumn, text: SqlText): SqlText {
  const value = castSql(type, text, true);
  if (type === 'TIMESTAMP') return toInstantSql(value);
  return type === 'TIMESTAMP[]' ? duck`CAST(${value} AS TIMESTAMPTZ[])` : value;
}

function sourcesSql(files: SegmentFile[]): SqlText {
  return joinSql(files.map(sourceSql), '\nUNION ALL\n');
}

function sourceSql(file: SegmentFile): SqlText {
  switch (file.format) {
    case 'text':
      return duck`SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${file.ingestedMs * 1000}) AS _ingested, e AS _event FROM ${textFilesSql([file])}`;
    case 'typed':
      return duck`SELECT _id, ${fromInstantSql(duck`_time`)} AS _time, ${fromInstantSql(duck`_ingested`)} AS _ingested, _event FROM ${parquetFilesSql([file])}`;
  }
}

/** The content of a written file: its number of rows, and the bounds of its times in milliseconds. */
export type FileContent = { rows: number; ingestedFrom: number; ingestedTo: number; timeFrom: number; timeTo: number };

/** Returns the statement that reads the content of a typed file. All columns but `rows` are null if it has no rows. */
export function contentSql(path: string): SqlText {
  const ms = (aggregate: SqlText): SqlText => duck`floor(epoch_us(${aggregate}) / 1000)`;
  return duck`SELECT count(*)::DOUBLE AS rows, ${ms(duck`min(_ingested)`)} AS "ingestedFrom", ${ms(duck`max(_ingested)`)} AS "ingestedTo",
    ${ms(duck`min(_time)`)} AS "timeFrom", ${ms(duck`max(_time)`)} AS "timeTo" FROM read_parquet(${quoteLiteral(path)}, hive_partitioning = false)`;
}
