import type { QueryRow, SearchLimits, SearchResult } from '../connector.ts';
import { authorError, ResponseTooLargeError } from '../siem-errors.ts';
import { sortRows } from './sort-rows.ts';

type Slice = { from: Date; to: Date };
/** `cut`: the engine may hold more rows than it gave. `noData`: it does not know the dataset. */
export type SliceResult = { rows: QueryRow[]; cut: boolean; noData?: boolean };

const asksMax = 500;

/**
 * Reads all rows of a window from an engine that bounds how many it gives at once: a part that comes back cut is asked for in halves, down
 * to a millisecond, in order of time, until `rowsMax` rows are there or the time is up. Groups cannot be put together from parts, so that they are asked for once.
 */
export async function searchSlices(
  window: Slice,
  given: { limits: SearchLimits; aggregate: boolean; timeField: string },
  ask: (slice: Slice) => Promise<SliceResult>,
): Promise<Omit<SearchResult, 'ms'>> {
  const { limits, aggregate, timeField } = given;
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const waiting: Slice[] = [window];
  const rows: QueryRow[] = [];
  let [asks, truncated, noData] = [0, false, false];
  const until = performance.now() + limits.timeoutMs;
  for (let slice = waiting.pop(); slice && !truncated; slice = waiting.pop()) {
    if (performance.now() > until) {
      if (rows.length === 0) throw authorError('query_timeout', 'The window has more rows than can be read in time.');
      truncated = true;
      break;
    }
    const got = await askOrCut(ask, slice, aggregate);
    asks += 1;
    noData ||= got.noData ?? false;
    const halves = got.cut && !aggregate ? halve(slice) : undefined;
    if (halves && asks < asksMax) {
      waiting.push(halves[1], halves[0]);
      continue;
    }
    for (const row of sortRows(got.rows, timeField)) rows.push(row);
    truncated = got.cut || rows.length > rowsMax;
  }
  return { rows: rows.slice(0, rowsMax), total: rows.length, truncated, aggregate, noData, early: noData };
}

/** An answer that is too large counts as cut, where its slice can be asked for in smaller parts. */
async function askOrCut(
  ask: (slice: Slice) => Promise<SliceResult>,
  slice: Slice,
  aggregate: boolean,
): Promise<SliceResult> {
  try {
    return await ask(slice);
  } catch (error) {
    if (error instanceof ResponseTooLargeError && !aggregate && halve(slice)) return { rows: [], cut: true };
    throw error;
  }
}

function halve({ from, to }: Slice): [Slice, Slice] | undefined {
  const middle = new Date(Math.floor((from.getTime() + to.getTime()) / 2));
  return middle > from && middle < to
    ? [
        { from, to: middle },
        { from: middle, to },
      ]
    : undefined;
}
