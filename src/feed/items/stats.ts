import type { Deps } from '../../app/deps.ts';
import { inOrg } from '../../platform/db/db.ts';
import type { Caller } from '../../platform/orgs/caller.ts';
import { getPage } from './snapshot/pages.ts';
import type { Page } from './snapshot/page-cache.ts';
import { platforms } from '../model/platforms.ts';
import { findAnswering } from './snapshot/relevance.sql.ts';
import type { FeedStats } from '../model/item.schema.ts';
import { listCounts, listRecent, type CountRow, type RecentRow } from './items.store.ts';
import { severities } from '../model/vocabulary.ts';

const recentMax = 10;

/** The statistics of what GET /items without parameters lists, as the bytes of the answer. */
export function getStats(deps: Deps, caller: Caller): Promise<Page> {
  return getPage(deps, caller, { name: 'stats' }, ({ view }) =>
    inOrg(deps.db, caller.orgId, async (tx) => {
      const { own } = await findAnswering(tx, view);
      const counts = await listCounts(tx, view, own);
      return Buffer.from(JSON.stringify(toStats(counts, await listRecent(tx, view, { own, limit: recentMax }))));
    }),
  );
}

function toStats(counts: CountRow[], recent: RecentRow[]): FeedStats {
  const sum = (fits: (row: CountRow) => boolean): number =>
    counts.reduce((total, row) => total + (fits(row) ? row.n : 0), 0);
  const entries = <K extends string>(keys: readonly K[], fits: (row: CountRow, key: K) => boolean): Record<K, number> =>
    Object.fromEntries(keys.map((key) => [key, sum((row) => fits(row, key))])) as Record<K, number>;
  return {
    totalItems: sum(() => true),
    severityBreakdown: entries(severities.toReversed(), (row, severity) => row.severity === severity),
    platformBreakdown: entries(platforms, (row, platform) => row.platforms.split(',').includes(platform)),
    sourcePublishers: [...new Set(counts.map(({ publisher }) => publisher))].toSorted(),
    recentItems: recent.map(({ id, title, severity, publish_time, added_to_feed_at }) => ({
      id,
      title,
      severity,
      publishTime: (publish_time ?? added_to_feed_at).toISOString(),
    })),
  };
}
