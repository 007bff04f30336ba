import { sql, type RawBuilder } from 'kysely';

type RecordValue = string | number | boolean | Date | string[] | null;

/** A column of a row set: its name, its PostgreSQL type, and its value in each row. */
type RecordColumn = { name: string; type: string; values: RecordValue[] };

/** Returns rows as the FROM item `n` of a statement. `types` maps the columns to their PostgreSQL types. */
export const toRecordset = <Name extends string>(
  rows: Record<Name, RecordValue>[],
  types: Record<Name, string>,
): RawBuilder<unknown> =>
  toColumnset(
    (Object.entries<string>(types) as [Name, string][]).map(([name, type]) => ({
      name,
      type,
      values: rows.map((row) => row[name]),
    })),
  );

/**
 * Returns the rows of columns as the FROM item `n` of a statement. A column whose value is the same in all rows is one parameter of its type,
 * which PostgreSQL parses once. Each other column is one parameter, an array of texts in binary format, which neither side has to escape or
 * parse. A lone surrogate becomes U+FFFD, as in every other text parameter.
 */
export function toColumnset(recordColumns: RecordColumn[]): RawBuilder<unknown> {
  const columns = recordColumns.map(({ name, type, values }, index) => {
    const texts = values.map(toText);
    // The first column is always an array, because its length is the number of rows.
    return { name, type, values: texts, isConstant: index > 0 && texts.every((text) => text === texts[0]) };
  });
  const varying = columns.filter(({ isConstant }) => !isConstant);
  const names = sql.raw(varying.map(({ name }) => name).join(', '));
  const arrays = varying.map(({ values }) => sql`${encodeTextArray(values)}::text[]`);
  const typed = columns.map(({ name, type, values, isConstant }) => {
    if (isConstant) return sql`${values[0]?.toWellFormed() ?? null}::${sql.raw(`${type} as ${name}`)}`;
    return sql.raw(type === 'text' ? name : `${name}::${type}`);
  });
  return sql`(select ${sql.join(typed)} from unnest(${sql.join(arrays)}) as texts (${names})) as n`;
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
