import { z } from 'zod';
import { inOrg } from '../../../platform/db/db.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { readTimeRange } from '../../../platform/lib/page-request.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { QueryRow } from '../../siem/connector.ts';
import { toQueryProblem } from '../../siem/siem-errors.ts';
import { loadCatalog } from '../../log-store/catalog/catalog.store.ts';
import { checkDatasetName, type CatalogField } from '../../log-store/catalog/catalog.ts';
import { authorError } from '../../log-engine/engine-failures.ts';
import { findDatasetStates } from '../../log-store/segments.store.ts';
import { listCatalogColumns, type Column } from '../../log-store/catalog/columns.ts';
import { searchLogs, type SearchLogsDeps } from '../search/search-logs.ts';
import { integerMeta, Instant } from '../../../platform/lib/schema-parts.ts';
import { boundedString } from '../../../platform/lib/text/bounded-text.ts';

export const ExploreQuery = z.object({
  from: Instant.optional().describe('Default: one day before `to`.'),
  to: Instant.optional().describe('Default: now. The window is on event time and at most 366 days.'),
  where: boundedString({ min: 1, max: 10_000 })
    .optional()
    .describe("An SQL condition on the events, such as `user = 'ada'`."),
});
export type ExploreQuery = z.infer<typeof ExploreQuery>;

const bucketsText = z
  .string()
  .regex(/^([1-9]\d?|[1-4]\d\d|500)$/, 'must be a whole number from 1 to 500')
  .meta(integerMeta(1, 500));

export const HistogramQuery = ExploreQuery.extend({
  buckets: bucketsText.optional().describe('Most buckets to return, 1 to 500. Default: 120.'),
});
export type HistogramQuery = z.infer<typeof HistogramQuery>;

const time = z.string().meta({ format: 'date-time' });

export const Histogram = z.object({
  dataset: z.string(),
  from: time,
  to: time,
  stepSeconds: z.int().describe('Length of a bucket. Buckets start at multiples of it since 1970.'),
  total: z.int(),
  buckets: z
    .array(z.object({ at: time, events: z.int() }))
    .describe('Every bucket of the window, empty ones included.'),
});
export type Histogram = z.infer<typeof Histogram>;

export const FieldStatistics = z.object({
  dataset: z.string(),
  from: time,
  to: time,
  events: z.int().describe('Events of the window that match.'),
  sampled: z.int().describe('The newest of them, from which the figures come. At most 5,000.'),
  fields: z
    .array(
      z.object({
        name: z.string().describe('As a query uses it. Keys inside objects are dotted.'),
        type: z.string(),
        present: z.number().describe('Share of the sampled events with a value, 0 to 1.'),
        distinct: z.int().nullable().describe('Different values in the sample. Null for objects, times and ids.'),
        top: z
          .array(z.object({ value: z.string(), events: z.int() }))
          .describe('The most frequent values as text, cut to 200 characters. At most 10.'),
      }),
    )
    .describe('In the order of the columns, at most 300.'),
  isComplete: z.boolean().describe('false: the dataset has more than 300 columns.'),
});
export type FieldStatistics = z.infer<typeof FieldStatistics>;

const fieldsMax = 300;
const sampleMax = 5000;
const topMax = 10;
const valueCharsMax = 200;

/** Columns whose values say nothing by their frequency. */
const unique = new Set(['_id', '_time', '_ingested']);
const hasTop = ({ name, type }: Column): boolean => !unique.has(name) && type !== 'JSON';

/** Returns how often each field of a dataset has a value, and its most frequent values, from the newest events of the window. */
export async function getFieldStatistics(
  deps: SearchLogsDeps,
  { orgId }: Caller,
  { dataset: name, query }: { dataset: string; query: ExploreQuery },
  signal: AbortSignal,
): Promise<FieldStatistics> {
  const dataset = await openDataset(deps, orgId, { dataset: name, query });
  const columns = listCatalogColumns(dataset.fields).filter((column) => column.name !== '_event');
  const listed = columns.slice(0, fieldsMax);
  const sql = statisticsSql(name, dataset.where, listed);
  const [row = {}] = await queryDataset(deps, orgId, { dataset, query: sql, rowsMax: 1 }, signal);
  const sampled = Number(row['sampled'] ?? 0);
  return {
    dataset: name,
    from: dataset.from.toISOString(),
    to: dataset.to.toISOString(),
    events: Number(row['events'] ?? 0),
    sampled,
    fields: listed.map((column, n) => ({
      name: column.name,
      type: column.type,
      present: sampled === 0 ? 0 : Math.round((10_000 * Number(row[`n${n}`])) / sampled) / 10_000,
      distinct: hasTop(column) ? Number(row[`d${n}`] ?? 0) : null,
      top: toTop(row[`t${n}`]),
    })),
    isComplete: columns.length <= fieldsMax,
  };
}

/** One row: for field `n`, its values `n…`, different values `d…` and most frequent values `t…`. */
function statisticsSql(dataset: string, where: string, columns: Column[]): string {
  const values = columns.map((column, n) => `${quotePath(column.name)} as f${n}`);
  const figures = columns.flatMap((column, n) => {
    const counts = `histogram(left(cast(f${n} as varchar), ${valueCharsMax}))`;
    const top = `list_slice(list_reverse_sort(list_transform(map_entries(${counts}), lambda e: struct_pack(n := e.value, v := e.key))), 1, ${topMax})`;
    return [`count(f${n}) as n${n}`, ...(hasTop(column) ? [`cardinality(${counts}) as d${n}`, `${top} as t${n}`] : [])];
  });
  return `with sample as (select ${values.join(', ')} from ${dataset} ${where} order by _time desc limit ${sampleMax})
    select (select count(*) from ${dataset} ${where}) as events, count(*) as sampled, ${figures.join(', ')} from sample`;
}

const quotePath = (name: string): string =>
  name
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.');

const toTop = (value: unknown): { value: string; events: number }[] =>
  Array.isArray(value) ? value.map(({ n, v }: { n: number; v: string }) => ({ value: v, events: Number(n) })) : [];

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

/** A dataset of the embedded store and the window to explore. `where` is the condition as SQL, or empty. */
type ExploredDataset = { dataset: string; from: Date; to: Date; where: string; fields: CatalogField[] };

/** Reads the request for one dataset. Throws 404 if it never had an event, and 400 for an invalid name or window. */
async function openDataset(
  { db, clock, logCatalogs }: SearchLogsDeps,
  orgId: OrgId,
  { dataset, query }: { dataset: string; query: ExploreQuery },
): Promise<ExploredDataset> {
  checkDatasetName(dataset);
  const range = readTimeRange(query, { now: clock(), defaultDays: 1, maxDays: 366 });
  return inOrg(db, orgId, async (tx) => {
    const [state] = await findDatasetStates(tx, orgId, [dataset]);
    if (!state || state.events === 0) throw appError('not_found', `Dataset ${dataset} not found.`);
    const fields = await loadCatalog(tx, logCatalogs, { orgId, dataset, version: state.version });
    // On lines of its own, so that a comment in it ends with it.
    const where = query.where === undefined ? '' : `where (\n${query.where}\n)`;
    return { ...range, dataset, where, fields };
  });
}

const timeoutMs = 30_000;

/** Runs a query over the window of a dataset. Throws a 422 that points to `where` if the query fails, which without a condition it does not. */
async function queryDataset(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { dataset: { from, to }, query, rowsMax }: { dataset: ExploredDataset; query: string; rowsMax: number },
  signal: AbortSignal,
): Promise<QueryRow[]> {
  const window = { from, to, clock: 'event' as const };
  const limits = { rowsMax, groupsMax: rowsMax, timeoutMs };
  try {
    const { rows, warnings = [] } = await searchLogs(deps, orgId, { query, window, limits }, signal);
    const unknown = warnings.find(({ code }) => code === 'unknown_column');
    if (unknown) throw authorError(unknown.code, unknown.detail);
    return rows;
  } catch (error) {
    throw toQueryProblem(error, 'query/where');
  }
}
