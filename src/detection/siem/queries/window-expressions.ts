import type { QueryWindow } from '../connector.ts';
import type { WindowExpressions } from './query-text.ts';

export type ClockColumns = { timeColumn: string; ingestColumn?: string | undefined };

/** Builds the window expressions of an SQL or pipe language. Applies `ingestedBefore` if there is an ingest column. `literal` formats a time. */
export function buildWindowExpressions(
  { from, to, clock, ingestedBefore }: QueryWindow,
  { timeColumn, ingestColumn }: ClockColumns,
  literal: (at: Date) => string,
): WindowExpressions {
  const column = clock === 'ingest' && ingestColumn ? ingestColumn : timeColumn;
  const [start, end] = [literal(from), literal(to)];
  const ingested = ingestedBefore && ingestColumn ? ` and ${ingestColumn} < ${literal(ingestedBefore)}` : '';
  const between = (first: string): string => `(${column} >= ${first} and ${column} < ${end}${ingested})`;
  return {
    condition: between(start),
    start,
    end,
    conditionFrom: (seconds) => between(literal(new Date(from.getTime() - seconds * 1000))),
  };
}

/** Returns an empty window, with which a query is checked. */
export function emptyWindow(): QueryWindow {
  const now = new Date();
  return { from: now, to: now, clock: 'event' };
}

/** Returns the columns by which rows are sorted: `_time` or the time column, then `_id`, if the query returns them. */
export function pickOrderColumns(names: readonly string[], timeColumn: string): string[] {
  const time = timeColumn.split('.').at(-1)!.replaceAll(/["`]/g, '');
  return [names.includes('_time') ? '_time' : time, '_id'].filter((name) => names.includes(name));
}
