import type { DatasetFields, QueryRow, SearchLimits, SearchResult } from './connector.ts';
import { dataDependentError, ResponseTooLargeError, UnknownIndexError } from './siem-errors.ts';

/** Sorts rows by time, ID and content, so that truncation always keeps the same rows. */
export function sortRows(rows: QueryRow[], timeField: string): QueryRow[] {
  const keyed = rows.map((row) => ({
    row,
    // Without the zone, a time comes before those of the same second with a fraction, or with a longer one.
    key: [text(row['_time'] ?? row[timeField]).replace(/Z$/, ''), text(row['_id']), JSON.stringify(row)],
  }));
  return keyed.toSorted((a, b) => compare(a.key, b.key)).map(({ row }) => row);
}

/** Converts a table of column names and values to rows. */
export function toRows(names: readonly string[], values: readonly (readonly unknown[])[]): QueryRow[] {
  return values.map((row) => Object.fromEntries(names.map((name, n) => [name, row[n] ?? null])));
}

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

function compare(a: string[], b: string[]): number {
  for (const [n, left] of a.entries()) if (left !== b[n]) return left < b[n]! ? -1 : 1;
  return 0;
}

/** Converts one row per column (`name`, `type`) to the fields of each dataset. `key` is the field with the dataset's name. */
export function groupFields(columns: readonly QueryRow[], key: string): DatasetFields[] {
  const byDataset = Map.groupBy(columns, (column) => String(column[key]));
  return [...byDataset].map(([dataset, list]) => ({
    dataset,
    fields: list.map(({ name, type }) => ({ name: String(name), type: String(type) })),
  }));
}

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
