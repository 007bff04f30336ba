import { literal, pointer } from './engine/sql.ts';
import { textFiles, type SegmentFile } from './engine/tables.ts';
import type { Field } from './catalogue.ts';

/**
 * The statement that writes segments into one Parquet file: id, time, publication, event, and the text of each catalogued column as c0, c1 …
 * Columns are kept as texts, since their types may still widen.
 */
export function compactSql(files: SegmentFile[], fields: Field[], target: string): string {
  const keys = fields.flatMap((field) => field.keys);
  const at = new Map(keys.map((key, index) => [key, index + 1]));
  const columns = fields.map(
    (field, position) => `coalesce(${field.keys.map((key) => `l[${at.get(key)}]`).join(', ')}) AS c${position}`,
  );
  const pointers = keys.map((key) => literal(pointer([key]))).join(', ');
  const list = ['_id', '_time', '_ingested', '_event', ...columns].join(', ');
  const texts = keys.length > 0 ? `json_extract_string(_event, [${pointers}])` : 'NULL';
  return `COPY (SELECT ${list} FROM (SELECT *, ${texts} AS l FROM (${sources(files)}))) TO ${literal(target)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 20000)`;
}

function sources(files: SegmentFile[]): string {
  return files
    .map((file) =>
      file.format === 'text'
        ? `SELECT i AS _id, make_timestamp(t) AS _time, make_timestamp(${file.ingestedMs * 1000}) AS _ingested, e AS _event FROM ${textFiles([file])}`
        : `SELECT _id, _time, _ingested, _event FROM read_parquet(${literal(file.path)})`,
    )
    .join('\nUNION ALL\n');
}
