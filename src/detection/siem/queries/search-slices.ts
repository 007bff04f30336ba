import type { QueryRow, SearchLimits, SearchResult } from '../connector.ts';
import { dataDependentError, ResponseTooLargeError, UnknownIndexError } from '../siem-errors.ts';
import { sortRows } from './result-rows.ts';

type Slice = { from: Date; to: Date };
/** `isCut`: the engine may have more rows. `noData`: the dataset does not exist. */
export type SliceResult = { rows: QueryRow[]; isCut: boolean; noData?: boolean };

const requestsMax = 500;

/**
 * Reads a window from an engine that limits the rows of a response. Splits a slice whose response is cut in halves, down to a millisecond, and
 * reads them in order of time until there are `rowsMax` rows or the time is up. Groups cannot be combined, so they are read in one request.
 */
export async function searchSlices(
  window: Slice,
  { limits, aggregate, timeField }: { limits: SearchLimits; aggregate: boolean; timeField: string },
  read: (slice: Slice) => Promise<SliceResult>,
): Promise<Omit<SearchResult, 'ms'>> {
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const pending: Slice[] = [window];
  const rows: QueryRow[] = [];
  let [requests, truncated, noData] = [0, false, false];
  const until = performance.now() + limits.timeoutMs;
  for (let slice = pending.pop(); slice && !truncated; slice = pending.pop()) {
    if (performance.now() > until) {
      if (rows.length === 0)
        throw dataDependentError('query_timeout', 'The window has more rows than can be read within the time limit.');
      truncated = true;
      break;
    }
    const halves = aggregate ? undefined : halve(slice);
    const result = await readSlice(read(slice), halves !== undefined);
    requests += 1;
    noData ||= result.noData ?? false;
    if (result.isCut && halves && requests < requestsMax) {
      pending.push(halves[1], halves[0]);
      continue;
    }
    for (const row of sortRows(result.rows, timeField)) rows.push(row);
    truncated = result.isCut || rows.length > rowsMax;
  }
  return { rows: rows.slice(0, rowsMax), total: rows.length, truncated, aggregate, noData, early: noData };
}

/** Treats a response that is too large as cut if its slice can be split. */
async function readSlice(response: Promise<SliceResult>, canSplit: boolean): Promise<SliceResult> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof ResponseTooLargeError && canSplit) return { rows: [], isCut: true };
    throw error;
  }
}

/** Treats an unknown index as one without data. */
export async function allowUnknownIndex(response: Promise<SliceResult>): Promise<SliceResult> {
  try {
    return await response;
  } catch (error) {
    if (error instanceof UnknownIndexError) return { rows: [], isCut: false, noData: true };
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
