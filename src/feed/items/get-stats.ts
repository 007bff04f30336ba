import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import type { FeedStats } from '../model/item.schema.ts';
import { platforms } from '../model/platforms.ts';
import { severities } from '../model/vocabulary.ts';
import type { ListItemsDeps } from './list-items.ts';
import { listRecentItems, readItemCounts, type ItemCountRow, type RecentItemRow } from './items.store.ts';
import { readOrgState } from './snapshot/org-state.store.ts';
import type { CachedPage } from './page-cache/page-cache.ts';

const recentMax = 10;

/** Returns the statistics of the items that `GET /items` lists without parameters, as the bytes of the response. */
export function getStats({ db, clock, feedPages }: ListItemsDeps, { orgId }: Caller): Promise<CachedPage> {
  return feedPages.get({ orgId, key: 'stats', now: clock() }, ({ snapshot }) =>
    inOrg(db, orgId, async (tx) => {
      const { overridesSeq } = await readOrgState(tx, snapshot);
      const counts = await readItemCounts(tx, snapshot, overridesSeq);
      const recent = await listRecentItems(tx, snapshot, { overridesSeq, limit: recentMax });
      return Buffer.from(JSON.stringify(toStats(counts, recent)));
    }),
  );
}

function toStats(counts: ItemCountRow[], recent: RecentItemRow[]): FeedStats {
  const sum = (matches: (row: ItemCountRow) => boolean): number =>
    counts.reduce((total, row) => total + (matches(row) ? row.n : 0), 0);
  const breakdown = <K extends string>(keys: readonly K[], valuesOf: (row: ItemCountRow) => string[]) =>
    Object.fromEntries(keys.map((key) => [key, sum((row) => valuesOf(row).includes(key))])) as Record<K, number>;
  return {
    totalItems: sum(() => true),
    severityBreakdown: breakdown(severities.toReversed(), ({ severity }) => [severity]),
    platformBreakdown: breakdown(platforms, (row) => row.platforms.split(',')),
    sourcePublishers: [...new Set(counts.map(({ publisher }) => publisher))].toSorted(),
    recentItems: recent.map(({ id, title, severity, publish_time, added_to_feed_at }) => ({
      id,
      title,
      severity,
      publishTime: (publish_time ?? added_to_feed_at).toISOString(),
    })),
  };
}
