import type { LogRow } from '../../api/logs.ts';

/** The most columns of the table. The open row shows the others. */
const columnsMax = 80;
/** Columns that say little in a table. The open row shows them. */
const quiet = new Set(['_id', '_ingested', '_event']);

const isObject = (value: unknown): value is LogRow =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function flatten(row: LogRow, prefix = ''): [string, unknown][] {
  return Object.entries(row).flatMap(([name, value]): [string, unknown][] =>
    isObject(value) ? flatten(value, `${prefix}${name}.`) : [[prefix + name, value]],
  );
}

/**
 * Turns rows into cells with dotted names, as a query writes them. Columns that are empty or repeat the time in every row are left out, unless
 * nothing else remains.
 */
export function flattenRows(
  rows: readonly LogRow[],
  columns: readonly string[],
): { columns: string[]; cells: LogRow[] } {
  const shown = columns.filter((name) => !quiet.has(name));
  const used = shown.length > 0 ? shown : columns;
  const cells = rows.map((row) =>
    Object.fromEntries(flatten(Object.fromEntries(used.map((name) => [name, row[name]])))),
  );
  const names = [...new Set(cells.flatMap((row) => Object.keys(row)))];
  const isTelling = (name: string): boolean =>
    name === '_time' ||
    cells.some((row) => row[name] !== undefined && row[name] !== null && row[name] !== row['_time']);
  const telling = names.filter(isTelling);
  const ordered = [...telling.filter((name) => name === '_time'), ...telling.filter((name) => name !== '_time')];
  return { columns: (ordered.length > 0 ? ordered : names).slice(0, columnsMax), cells };
}
