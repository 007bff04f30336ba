import type { QueryRow } from '../connector.ts';

/** Orders rows by time, id and text, so that the same are kept each time. */
export function sortRows(rows: QueryRow[], timeField: string): QueryRow[] {
  const keyed = rows.map((row) => ({
    row,
    key: [text(row['_time'] ?? row[timeField]), text(row['_id']), JSON.stringify(row)],
  }));
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ row }) => row);
}

/** Columns and values of a table as rows. */
export function toRows(names: readonly string[], values: readonly (readonly unknown[])[]): QueryRow[] {
  return values.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n] ?? null])));
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

function compare(a: string[], b: string[]): number {
  for (const [n, left] of a.entries()) if (left !== b[n]) return left < b[n]! ? -1 : 1;
  return 0;
}
