import { z } from 'zod';
import { inOrg, type Db } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toCountOutputs, type FeedItem, type FeedStats, CountOutputs } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';
import { severities, itemStatuses } from '../model/vocabulary.ts';
import { filteredSnapshot, filterFields, isFiltered, readFilters, type FilterQuery } from './feed-filters.ts';
import { listItems, type ListItemsDeps } from './list-items.ts';
import { listRecentItems, readItemCounts, type ItemCountRow, type RecentItemRow } from './items.store.ts';
import { matchesColumns, readSourceCounts, type ColumnFilter } from './search/search-facets.ts';
import { readOrgState } from './snapshot/org-state.store.ts';
import type { CachedPage } from '../../platform/http/responses/cached-pages.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { CountPublicWords } from './search/correct-search.ts';
import type { SnapshotCache } from './snapshot/snapshot.ts';

const recentMax = 10;

/** The filters of the list. Unknown parameters are ignored, as in the list. */
export const StatsQuery = z.looseObject(filterFields);
type StatsQuery = z.infer<typeof StatsQuery>;

/** Returns the statistics of the items that `GET /items` lists with the same filters, as the bytes of the response. */
export function getStats(deps: ListItemsDeps, { orgId }: Caller, query: StatsQuery): Promise<CachedPage> {
  const { db, clock, feedPages } = deps;
  const filters = readFilters(query);
  if (isFiltered(filters) || filters.relevancyMode === 'relevant') return getFilteredStats(deps, { orgId }, query);
  return feedPages.get({ orgId, key: 'stats', now: clock() }, ({ snapshot }) =>
    inOrg(db, orgId, async (tx) => {
      const { overridesSeq } = await readOrgState(tx, snapshot);
      const counts = await readItemCounts(tx, snapshot, { overridesSeq });
      const recent = await listRecentItems(tx, snapshot, { overridesSeq, limit: recentMax });
      return Buffer.from(JSON.stringify(toStats(counts, recent.map(toRecentRow))));
    }),
  );
}

function getFilteredStats(
  deps: ListItemsDeps,
  { orgId }: Pick<Caller, 'orgId'>,
  query: StatsQuery,
): Promise<CachedPage> {
  const { db, clock, feedPages, countPublicWords } = deps;
  const filters = readFilters(query);
  return feedPages.get({ orgId, key: `stats ${JSON.stringify(filters)}`, now: clock() }, async (dated, asOf) => {
    const { rows, isEstimated } = await inOrg(db, orgId, async (tx) => {
      const orgState = await readOrgState(tx, dated.snapshot);
      const snapshot = filteredSnapshot(filters, dated.snapshot);
      const context = { snapshot, orgState, countPublicWords, now: new Date(dated.hour) };
      return (await readSourceCounts(tx, filters, context)).bySource;
    });
    const newest = { ...query, page: '1', perPage: String(recentMax), searchOrder: 'newest' as const, asOf };
    const list = await listItems(deps, { orgId }, newest);
    const { items } = JSON.parse(String(await list.bytes('identity'))) as { items: FeedItem[] };
    const counts = rows.filter((row) => matchesColumns(filters, row));
    return Buffer.from(
      JSON.stringify({
        ...toStats(counts, items.map(toRecentItem)),
        ...toCountOutputs(isEstimated),
      } satisfies FeedStats),
    );
  });
}

type RecentItem = FeedStats['recentItems'][number];

const toRecentRow = ({ id, title, severity, publish_time, added_to_feed_at }: RecentItemRow): RecentItem => ({
  id,
  title,
  severity: severity as RecentItem['severity'],
  publishTime: (publish_time ?? added_to_feed_at).toISOString(),
});

const toRecentItem = ({ id, event, source, addedToFeedAt, tenantOverrides }: FeedItem): RecentItem => ({
  id,
  title: event.title,
  severity: tenantOverrides?.severity ?? event.severity,
  publishTime: source.publishTime ?? addedToFeedAt,
});

function toStats(counts: ItemCountRow[], recentItems: RecentItem[]): FeedStats {
  const sum = (matches: (row: ItemCountRow) => boolean): number =>
    counts.reduce((total, row) => total + (matches(row) ? row.n : 0), 0);
  const breakdown = <K extends string>(keys: readonly K[], valuesOf: (row: ItemCountRow) => string[]) =>
    Object.fromEntries(keys.map((key) => [key, sum((row) => valuesOf(row).includes(key))])) as Record<K, number>;
  return {
    totalItems: sum(() => true),
    severityBreakdown: breakdown(severities.toReversed(), ({ severity }) => [severity]),
    platformBreakdown: breakdown(platforms, (row) => row.platforms.split(',')),
    sourcePublishers: [...new Set(counts.map(({ publisher }) => publisher))].toSorted(),
    recentItems,
  };
}

export const FacetsQuery = z.object(filterFields);

export const FeedFacets = z
  .object({
    total: z.int().describe('Items that match all filters.'),
    severity: z.record(z.enum(severities), z.int()),
    status: z.record(z.enum(itemStatuses), z.int()),
    platform: z.record(z.enum(platforms), z.int()),
    source: z
      .array(
        z.object({
          name: z.string().describe('A publisher or source name.'),
          type: z.enum(['source', 'publisher']).describe('`source` if a source and a publisher share the name.'),
          items: z.int(),
        }),
      )
      .describe('The most frequent first, at most 200. With `duplicates=hide`, those of the roots.'),
    outputs: CountOutputs,
  })
  .meta({ id: 'FeedFacets' });

export type FeedFacets = z.infer<typeof FeedFacets>;

const sourcesMax = 200;

export type FacetsDeps = { db: Db; clock: Clock; snapshots: SnapshotCache; countPublicWords: CountPublicWords };

/**
 * Counts the items by the filters of the list. Each facet counts what the other filters match, so that it shows what choosing another value
 * would list.
 */
export async function getFacets(
  { db, clock, snapshots, countPublicWords }: FacetsDeps,
  { orgId }: Caller,
  query: FilterQuery,
): Promise<FeedFacets> {
  const current = await snapshots.get(orgId);
  const filters = readFilters(query);
  const { bySource, ofAllSources } = await inOrg(db, orgId, async (tx) => {
    const orgState = await readOrgState(tx, current);
    const snapshot = filteredSnapshot(filters, current);
    return readSourceCounts(tx, filters, { snapshot, orgState, countPublicWords, now: clock() });
  });
  const { rows } = bySource;
  const matching = (list: ItemCountRow[], without?: ColumnFilter): ItemCountRow[] =>
    list.filter((row) => matchesColumns(filters, row, without));
  const breakdown = <K extends string>(
    keys: readonly K[],
    facet: ColumnFilter,
    hasKey: (row: ItemCountRow, key: K) => boolean,
  ) => {
    const found = matching(rows, facet);
    return Object.fromEntries(keys.map((key) => [key, total(found.filter((row) => hasKey(row, key)))])) as Record<
      K,
      number
    >;
  };
  return {
    total: total(matching(rows)),
    severity: breakdown(severities.toReversed(), 'severity', (row, key) => row.severity === key),
    status: breakdown(itemStatuses, 'status', (row, key) => row.status === key),
    platform: breakdown(platforms, 'platform', (row, key) => row.platforms.split(',').includes(key)),
    source: countSources(matching(ofAllSources.rows)),
    ...toCountOutputs(bySource.isEstimated),
  };
}

const total = (list: ItemCountRow[]): number => list.reduce((sum, { n }) => sum + n, 0);

function countSources(rows: ItemCountRow[]): FeedFacets['source'] {
  const counts = new Map<string, number>();
  const sources = new Set(rows.map(({ source_name: name }) => name));
  for (const { publisher, source_name: name, n } of rows)
    for (const label of new Set([publisher, name])) counts.set(label, (counts.get(label) ?? 0) + n);
  return [...counts]
    .map(([name, items]) => ({ name, type: sources.has(name) ? ('source' as const) : ('publisher' as const), items }))
    .toSorted((a, b) => b.items - a.items || a.name.localeCompare(b.name))
    .slice(0, sourcesMax);
}
