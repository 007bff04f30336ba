import type { RenderedRow } from '../analysis/candidate.ts';
import type { ColumnKind, QueryRow } from '../siem/connector.ts';

/** Returns a row without the columns that identify an event and its time, unless they are those of an event: a query can write them itself. */
export function stripSystemColumns(row: QueryRow, kindOf: (column: string) => ColumnKind): QueryRow {
  const entries = Object.entries(row).filter(([name]) => !name.startsWith('_') || kindOf(name) === 'value');
  return Object.fromEntries(entries);
}

/** Returns a function that returns what a field of a rendered row has, from the column that it is or is inside of. */
export function columnReader(
  kindOf: (column: string) => ColumnKind,
  columns: readonly string[],
): (field: string) => ColumnKind {
  return (field) => {
    const column = columns.find((name) => field === name || field.startsWith(`${name}.`));
    // The fields of a row that has nothing but the event come from inside of it.
    return kindOf(column ?? '_event');
  };
}

/** Gives rows that have the same ID, such as those of a join, IDs of their own. */
export function renameRepeats(rows: readonly RenderedRow[]): RenderedRow[] {
  const seen = new Map<string, number>();
  return rows.map((row) => {
    const times = (seen.get(row.rowId) ?? 0) + 1;
    seen.set(row.rowId, times);
    return times === 1 ? row : { ...row, rowId: `${row.rowId}#${times}` };
  });
}
