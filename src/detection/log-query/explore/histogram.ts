import type { Caller } from '../../../platform/http/caller.ts';
import type { SearchLogsDeps } from '../search/search-logs.ts';
import { openDataset, queryDataset } from './explore-dataset.ts';
import type { Histogram, HistogramQuery } from './explore.schema.ts';

const bucketsDefault = 120;
const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
/** Lengths that people read easily, in seconds. */
const steps = [
  1,
  2,
  5,
  10,
  15,
  30,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28, 56, 182, 366].map((n) => n * day),
];

/** Counts the events of a dataset over time. */
export async function getHistogram(
  deps: SearchLogsDeps,
  { orgId }: Caller,
  { dataset: name, query }: { dataset: string; query: HistogramQuery },
  signal: AbortSignal,
): Promise<Histogram> {
  const dataset = await openDataset(deps, orgId, { dataset: name, query });
  const { from, to, where } = dataset;
  const step = chooseStep(from, to, query.buckets === undefined ? bucketsDefault : Number(query.buckets));
  const sql = `select cast(floor(epoch(_time) / ${step}) as bigint) as bucket, count(*) as events from ${name} ${where} group by all`;
  const rows = await queryDataset(deps, orgId, { dataset, query: sql, rowsMax: 1000 }, signal);
  const counts = new Map(rows.map((row) => [Number(row['bucket']), Number(row['events'])]));
  const first = Math.floor(from.getTime() / 1000 / step);
  const last = Math.ceil(to.getTime() / 1000 / step) - 1;
  const buckets = Array.from({ length: last - first + 1 }, (_, n) => ({
    at: new Date((first + n) * step * 1000).toISOString(),
    events: counts.get(first + n) ?? 0,
  }));
  return {
    dataset: name,
    from: from.toISOString(),
    to: to.toISOString(),
    stepSeconds: step,
    total: buckets.reduce((sum, { events }) => sum + events, 0),
    buckets,
  };
}

/** Returns the shortest step of which at most `buckets` touch the window. */
export function chooseStep(from: Date, to: Date, buckets: number): number {
  const touched = (step: number): number =>
    Math.ceil(to.getTime() / 1000 / step) - Math.floor(from.getTime() / 1000 / step);
  return steps.find((step) => touched(step) <= buckets) ?? steps.at(-1)!;
}
