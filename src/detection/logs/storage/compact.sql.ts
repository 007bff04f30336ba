import { duck, joinSql, quoteLiteral, jsonPointer, type SqlText } from '../engine/sql-text.ts';
import { keyTextSql, textFilesSql, type SegmentFile } from '../engine/table-sql.ts';
import { erasedMark } from '../../../platform/db/erasure.store.ts';
import type { CatalogField } from '../catalog/catalog.ts';

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

/**
 * Returns the statement that writes segments into one Parquet file with the system columns and the text of each catalog column as c0, c1, ….
 * Catalog columns are stored as text because their types may still change.
 */
export function compactSql(
  files: SegmentFile[],
  fields: CatalogField[],
  target: string,
  erased?: ErasureTarget,
): SqlText {
  const keys = fields.flatMap((field) => field.keys);
  const listIndex = new Map(keys.map((key, index) => [key, index + 1]));
  const columns = fields.map(
    (field, position) =>
      duck`${keyTextSql(field, (key) => duck`l[${listIndex.get(key)!}]`, duck`_event`)} AS c${position}`,
  );
  const pointers = joinSql(keys.map((key) => quoteLiteral(jsonPointer([key]))));
  const list = joinSql([duck`_id, _time, _ingested, _event`, ...columns]);
  const texts = keys.length > 0 ? duck`json_extract_string(_event, [${pointers}])` : duck`NULL`;
  return duck`COPY (SELECT ${list} FROM (SELECT *, ${texts} AS l FROM (${erased ? erasureSql(sourcesSql(files), erased) : sourcesSql(files)}))) TO ${quoteLiteral(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`;
}

function sourcesSql(files: SegmentFile[]): SqlText {
  return joinSql(
    files.map((file) =>
      file.format === 'text'
        ? duck`SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${file.ingestedMs * 1000}) AS _ingested, e AS _event FROM ${textFilesSql([file])}`
        : duck`SELECT _id, _time, _ingested, _event FROM read_parquet(${quoteLiteral(file.path)})`,
    ),
    '\nUNION ALL\n',
  );
}
