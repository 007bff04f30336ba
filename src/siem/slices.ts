import type { Row, SearchLimits, SearchResult } from './connector.ts';
import { orderRows } from './rows.ts';

type Slice = { from: Date; to: Date };
/** `cut`: the engine may hold more rows than it gave. `noData`: it does not know the dataset. */
export type SliceRows = { rows: Row[]; cut: boolean; noData?: boolean };

const asksMax = 500;

/**
 * Reads all rows of a window from an engine that bounds how many it gives at once: a part that comes back cut is asked for in halves, down
 * to a millisecond, in order of time, until `rowsMax` rows are there. Groups cannot be put together from parts, so that they are asked for once.
 */
export async function searchSlices(
  window: Slice,
  given: { limits: SearchLimits; aggregate: boolean; timeField: string },
  ask: (slice: Slice) => Promise<SliceRows>,
): Promise<Omit<SearchResult, 'ms'>> {
  const { limits, aggregate, timeField } = given;
  const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
  const waiting: Slice[] = [window];
  const rows: Row[] = [];
  let [asks, truncated, noData] = [0, false, false];
  for (let slice = waiting.pop(); slice && !truncated; slice = waiting.pop()) {
    const got = await ask(slice);
    asks += 1;
    noData ||= got.noData ?? false;
    const halves = got.cut && !aggregate ? halve(slice) : undefined;
    if (halves && asks < asksMax) {
      waiting.push(halves[1], halves[0]);
      continue;
    }
    for (const row of orderRows(got.rows, timeField)) rows.push(row);
    truncated = got.cut || rows.length > rowsMax;
  }
  return { rows: rows.slice(0, rowsMax), total: rows.length, truncated, aggregate, noData, early: noData };
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
