import { z } from 'zod';
import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { toCountOutputs, type FeedItem, type FeedStats } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';
import { severities } from '../model/vocabulary.ts';
import { filteredSnapshot, filterFields, isFiltered, readFilters } from './feed-filters.ts';
import { listItems, type ListItemsDeps } from './list-items.ts';
import { listRecentItems, readItemCounts, type ItemCountRow, type RecentItemRow } from './items.store.ts';
import { matchesColumns, readSourceCounts } from './search/search-facets.ts';
import { readOrgState } from './snapshot/org-state.store.ts';
import type { CachedPage } from '../../platform/http/responses/cached-pages.ts';

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
