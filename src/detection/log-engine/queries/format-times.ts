import { exactTimes, type QueryRow } from '../../siem/connector.ts';
import type { QueryEnd } from './protocol.ts';

/**
 * Replaces the times that an engine process sent in microseconds by ISO 8601 UTC with milliseconds. Keeps those that have microseconds under
 * `exactTimes`.
 */
export function formatTimes<Result extends Pick<QueryEnd, 'times'>>({
  rows,
  times = [],
  ...end
}: { rows: QueryRow[] } & Result): { rows: QueryRow[] } & Omit<Result, 'rows' | 'times'> {
  for (const row of rows)
    for (const name of times) {
      const micros = row[name];
      if (typeof micros !== 'number') continue;
      row[name] = new Date(Math.floor(micros / 1000)).toISOString();
      if (micros % 1000 !== 0) (row[exactTimes] ??= {})[name] = micros;
    }
  return { rows, ...end };
}
