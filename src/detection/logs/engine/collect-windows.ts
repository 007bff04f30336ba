import type { QueryEnd } from './protocol.ts';

type Row = Record<string, unknown>;

/** Rows of one window, or the end of its result. */
export type WindowRows = { rows: Row[] } | { end: QueryEnd };

/** Joins the parts that an engine process sends for the windows of a job. A result without an end is incomplete and left out. */
export function collectWindows(parts: readonly WindowRows[]): ({ rows: Row[] } & QueryEnd)[] {
  const results: ({ rows: Row[] } & QueryEnd)[] = [];
  let rows: Row[] = [];
  for (const part of parts) {
    if ('rows' in part) rows = rows.length === 0 ? part.rows : [...rows, ...part.rows];
    else {
      results.push({ rows, ...part.end });
      rows = [];
    }
  }
  return results;
}
