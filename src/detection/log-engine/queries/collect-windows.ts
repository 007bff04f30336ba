import type { QueryEnd } from './protocol.ts';

type Row = Record<string, unknown>;

/** Rows of one window, or the end of its result. */
export type WindowRows = { rows: Row[] } | { end: QueryEnd };

/** Joins the parts that an engine process sends for the windows of a job. A result without an end is incomplete and left out. */
export function collectWindows(parts: readonly WindowRows[]): ({ rows: Row[] } & QueryEnd)[] {
  const results: ({ rows: Row[] } & QueryEnd)[] = [];
  let rows: Row[] = [];
  for (const part of parts) {
    if ('rows' in part) for (const row of part.rows) rows.push(row);
    else {
      results.push({ rows, ...part.end });
      rows = [];
    }
  }
  return results;
}
