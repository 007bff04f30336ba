import { quoteLiteral, jsonPointer } from '../engine/sql-text.ts';
import { textFiles, type SegmentFile } from '../engine/table-sql.ts';
import type { CatalogField } from '../catalog/catalog.ts';

/** A value to be taken out of the events that hold it under a dotted name. */
export type ErasureTarget = { field: string; value: string };

/** What stands in place of an erased value. */
export const erasedMark = '[erased]';

/** The condition on `_event` that it holds the value under that name, as a key with the dots or as a path. */
export function containsValueSql({ field, value }: ErasureTarget): string {
  const at = (keys: string[]): string => `json_extract_string(_event, ${quoteLiteral(jsonPointer(keys))})`;
  return `coalesce(${at([field])}, ${at(field.split('.'))}) = ${quoteLiteral(value)}`;
}

function erasing(from: string, erased: ErasureTarget): string {
  const inJson = JSON.stringify(erased.value).slice(1, -1);
  const spellings = [...new Set([inJson, erased.value, inJson.replaceAll('/', '\\/')])];
  const without = (text: string): string =>
    spellings.reduce((inner, one) => `replace(${inner}, ${quoteLiteral(one)}, ${quoteLiteral(erasedMark)})`, text);
  const when = (text: string): string =>
    `CASE WHEN ${containsValueSql(erased)} THEN ${without(`CAST(${text} AS VARCHAR)`)} ELSE CAST(${text} AS VARCHAR) END`;
  return `SELECT ${when('_id')} AS _id, _time, _ingested, ${when('_event')} AS _event FROM (${from})`;
}

/**
 * The statement that writes segments into one Parquet file: id, time, publication, event, and the text of each catalogued column as c0, c1 …
 * Columns are kept as texts, since their types may still widen.
 */
export function compactSql(
  files: SegmentFile[],
  fields: CatalogField[],
  target: string,
  erased?: ErasureTarget,
): string {
  const keys = fields.flatMap((field) => field.keys);
  const at = new Map(keys.map((key, index) => [key, index + 1]));
  const columns = fields.map(
    (field, position) => `coalesce(${field.keys.map((key) => `l[${at.get(key)}]`).join(', ')}) AS c${position}`,
  );
  const pointers = keys.map((key) => quoteLiteral(jsonPointer([key]))).join(', ');
  const list = ['_id', '_time', '_ingested', '_event', ...columns].join(', ');
  const texts = keys.length > 0 ? `json_extract_string(_event, [${pointers}])` : 'NULL';
  return `COPY (SELECT ${list} FROM (SELECT *, ${texts} AS l FROM (${erased ? erasing(sources(files), erased) : sources(files)}))) TO ${quoteLiteral(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`;
}

function sources(files: SegmentFile[]): string {
  return files
    .map((file) =>
      file.format === 'text'
        ? `SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${file.ingestedMs * 1000}) AS _ingested, e AS _event FROM ${textFiles([file])}`
        : `SELECT _id, _time, _ingested, _event FROM read_parquet(${quoteLiteral(file.path)})`,
    )
    .join('\nUNION ALL\n');
}
