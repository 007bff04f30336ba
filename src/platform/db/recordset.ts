import { sql, type RawBuilder } from 'kysely';

type RecordValue = string | number | boolean | Date | string[] | null;

/** A column of a row set: its name, its PostgreSQL type, and its value in each row. */
type RecordColumn = { name: string; type: string; values: RecordValue[] };

/** Returns rows as the FROM item `n` of a statement. `types` maps the columns to their PostgreSQL types. */
export const toRecordset = <Name extends string>(
  rows: Record<Name, RecordValue>[],
  types: Record<Name, string>,
): RawBuilder<unknown> => toEncodedColumnset(encodeRecordset(rows, types));

/** Encodes the rows of `toRecordset`. */
export const encodeRecordset = <Name extends string>(
  rows: Record<Name, RecordValue>[],
  types: Record<Name, string>,
): EncodedColumn[] =>
  encodeColumns(
    (Object.entries<string>(types) as [Name, string][]).map(([name, type]) => ({
      name,
      type,
      values: rows.map((row) => row[name]),
    })),
  );

/** A column whose values were encoded for PostgreSQL. `constant`: the value of all rows. `texts`: an array of texts in binary format. */
export type EncodedColumn = { name: string; type: string } & ({ constant: string | null } | { texts: Buffer });

/**
 * Encodes the columns of a row set. A lone surrogate becomes U+FFFD, as in every other text parameter. The first column is always an array,
 * because its length is the number of rows.
 */
export const encodeColumns = (columns: RecordColumn[]): EncodedColumn[] =>
  columns.map((column, index) => encodeColumn(column, index > 0));

/** Encodes one column, as a constant if it `mayBeConstant` and all its values are the same. */
export function encodeColumn({ name, type, values }: RecordColumn, mayBeConstant: boolean): EncodedColumn {
  // Spares most constant columns the encoding of each value.
  const texts = mayBeConstant && isConstant(values) ? [toText(values[0]!)] : values.map(toText);
  if (mayBeConstant && isConstant(texts)) return { name, type, constant: texts[0]?.toWellFormed() ?? null };
  return { name, type, texts: encodeTextArray(texts) };
}

const isConstant = (values: RecordValue[]): boolean =>
  values.length > 0 && values.every((value) => value === values[0]);

/**
 * Returns the rows of encoded columns as the FROM item `n` of a statement. A constant is one parameter of its type, which PostgreSQL parses
 * once. Each other column is one parameter, an array of texts in binary format, which neither side has to escape or parse.
 */
export function toEncodedColumnset(columns: EncodedColumn[]): RawBuilder<unknown> {
  const varying = columns.flatMap((column) => ('texts' in column ? [column] : []));
  const names = sql.raw(varying.map(({ name }) => name).join(', '));
  const arrays = varying.map(({ texts }) => sql`${texts}::text[]`);
  const typed = columns.map((column) => {
    const { name, type } = column;
    if ('constant' in column) return sql`${column.constant}::${sql.raw(`${type} as ${name}`)}`;
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
