import type { QueryWindow } from '../connector.ts';
import type { WindowExpressions } from './query-text.ts';

export type ClockColumns = { timeColumn: string; ingestColumn?: string | undefined };

/** `$window` of an SQL or pipe language: on the clock of the window, of rows ingested before its bound where a column tells. `literal` writes a time. */
export function buildWindowExpressions(
  { from, to, clock, ingestedBefore }: QueryWindow,
  { timeColumn, ingestColumn }: ClockColumns,
  literal: (at: Date) => string,
): WindowExpressions {
  const column = clock === 'ingest' && ingestColumn ? ingestColumn : timeColumn;
  const [start, end] = [literal(from), literal(to)];
  const known = ingestedBefore && ingestColumn ? ` and ${ingestColumn} < ${literal(ingestedBefore)}` : '';
  return { condition: `(${column} >= ${start} and ${column} < ${end}${known})`, start, end };
}

/** The columns by which the rows of a query are ordered first: `_time` or the time column, then `_id`. */
export function pickOrderColumns(names: readonly string[], timeColumn: string): string[] {
  const time = timeColumn.split('.').at(-1)!.replaceAll(/["`]/g, '');
  return [names.includes('_time') ? '_time' : time, '_id'].filter((name) => names.includes(name));
}
