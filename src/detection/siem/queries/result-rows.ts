import type { DatasetFields, QueryRow } from '../connector.ts';

/** Sorts rows by time, ID and content, so that truncation always keeps the same rows. */
export function sortRows(rows: QueryRow[], timeField: string): QueryRow[] {
  const keyed = rows.map((row) => ({
    row,
    // Without the zone, a time comes before those of the same second with a fraction, or with a longer one.
    key: [text(row['_time'] ?? row[timeField]).replace(/Z$/, ''), text(row['_id']), JSON.stringify(row)],
  }));
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ row }) => row);
}

/** Converts a table of column names and values to rows. */
export function toRows(names: readonly string[], values: readonly (readonly unknown[])[]): QueryRow[] {
  return values.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n] ?? null])));
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

function compare(a: string[], b: string[]): number {
  for (const [n, left] of a.entries()) if (left !== b[n]) return left < b[n]! ? -1 : 1;
  return 0;
}

/** Converts one row per column (`name`, `type`) to the fields of each dataset. `key` is the field with the dataset's name. */
export function groupFields(columns: readonly QueryRow[], key: string): DatasetFields[] {
  const byDataset = Map.groupBy(columns, (column) => String(column[key]));
  return [...byDataset].map(([dataset, list]) => ({
    dataset,
    fields: list.map(({ name, type }) => ({ name: String(name), type: String(type) })),
  }));
}
