import { sql, type RawBuilder } from 'kysely';

type RecordValue = string | number | boolean | Date | string[] | null;

/**
 * Returns rows as the FROM item `n` of a statement. `types` maps the columns to their PostgreSQL types. Each column is one parameter, an array of
 * texts in binary format, which neither side has to escape or parse. A lone surrogate becomes U+FFFD, as in every other text parameter.
 */
export function toRecordset<Name extends string>(
  rows: Record<Name, RecordValue>[],
  types: Record<Name, string>,
): RawBuilder<unknown> {
  const columns = Object.entries<string>(types) as [Name, string][];
  const names = sql.raw(columns.map(([name]) => name).join(', '));
  const arrays = columns.map(([name]) => sql`${encodeTextArray(rows.map((row) => toText(row[name])))}::text[]`);
  const typed = sql.raw(columns.map(([name, type]) => (type === 'text' ? name : `${name}::${type}`)).join(', '));
  return sql`(select ${typed} from unnest(${sql.join(arrays)}) as texts (${names})) as n`;
}

function toText(value: RecordValue): string | null {
  if (value === null || typeof value === 'string') return value;
  if (Array.isArray(value))
    return `{${value.map((text) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}

const textOid = 25;

/** Encodes a one-dimensional `text[]` in PostgreSQL's binary format (array_recv in src/backend/utils/adt/arrayfuncs.c). */
function encodeTextArray(values: (string | null)[]): Buffer {
  const header = [1, 1, textOid, values.length, 1];
  const lengths = values.map((value) => (value === null ? -1 : Buffer.byteLength(value)));
  const size = lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), 4 * header.length);
  const bytes = Buffer.allocUnsafe(size);
  let at = 0;
  for (const number of header) at = bytes.writeInt32BE(number, at);
  values.forEach((value, index) => {
    at = bytes.writeInt32BE(lengths[index]!, at);
    if (value !== null) at += bytes.write(value, at);
  });
  return bytes;
}
