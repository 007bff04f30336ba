import { fieldError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { SiemError, type QueryRow } from '../siem/connector.ts';
import { toQueryProblem } from '../siem/siem-errors.ts';
import type { ConnectionFor } from './open-connection.ts';
import type { SearchInput, SearchRows } from './connections.schema.ts';

export type SearchWindowDeps = { connectionFor: ConnectionFor };

const timeoutMs = 30_000;
const timeoutError = new SiemError({
  kind: 'query_timeout',
  blame: 'author',
  retryable: false,
  message: `The query did not finish within ${timeoutMs / 1000} s. Read fewer events or simplify it.`,
});
const bytesMax = 8 * 1024 * 1024;

/**
 * Runs a query over a window of event time and returns its rows, under the checks that a detection's query has. Stores nothing. Throws a 422 for
 * a query that cannot run and a 503 if the SIEM fails. Takes at most 30 seconds.
 */
export async function searchWindow(
  { connectionFor }: SearchWindowDeps,
  { orgId }: Caller,
  { query, from, to, connectionId, limit }: SearchInput,
  disconnected: AbortSignal,
): Promise<SearchRows> {
  const window = { from: new Date(from), to: new Date(to), clock: 'event' as const };
  if (window.from >= window.to) throw fieldError('/to', 'out_of_range', 'to must be later than from.');
  const limits = { rowsMax: limit, groupsMax: limit, timeoutMs };
  const tooSlow = AbortSignal.timeout(timeoutMs);
  try {
    const connection = await connectionFor(orgId, { connectionId: connectionId ?? null, siemType: null });
    const signal = AbortSignal.any([disconnected, tooSlow]);
    const {
      rows,
      truncated,
      columns,
      warnings = [],
      ...found
    } = await connection.search(query, window, limits, signal);
    const fitting = takeFitting(rows);
    return {
      columns: columns ?? listColumns(fitting),
      rows: fitting,
      total: Math.max(found.total, rows.length),
      truncated: truncated || fitting.length < rows.length,
      aggregate: found.aggregate,
      noData: found.noData,
      ms: Math.round(found.ms),
      warnings,
    };
  } catch (error) {
    // The connection only knows that it was stopped.
    const isTooSlow = tooSlow.aborted && !disconnected.aborted && error instanceof SiemError;
    throw toQueryProblem(isTooSlow ? timeoutError : error, '/query');
  }
}

/** Returns the first rows that together are at most 8 MiB of JSON. */
function takeFitting(rows: QueryRow[]): QueryRow[] {
  let bytes = 0;
  const end = rows.findIndex((row) => (bytes += JSON.stringify(row).length) > bytesMax);
  return end === -1 ? rows : rows.slice(0, end);
}

const listColumns = (rows: QueryRow[]): string[] => [...new Set(rows.flatMap((row) => Object.keys(row)))];
