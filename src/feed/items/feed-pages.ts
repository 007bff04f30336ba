import { inOrg, type Db } from '../../platform/db/db.ts';
import { createPageCache, type CachedPage } from '../../platform/http/responses/cached-pages.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { openSnapshotToken, sealSnapshotToken, type DatedSnapshot, type SnapshotCache } from './snapshot/snapshot.ts';
import { startOfHour } from '../model/expiry.ts';
import { readFeedKey } from './snapshot/pools.store.ts';

/** `key` identifies the response within its snapshot. `asOf` is a snapshot token; without one the page shows the feed at `now`. */
type FeedPageRequest = { orgId: OrgId; key: string; asOf?: string | undefined; now: Date };

/** Builds the body of a response from one snapshot, whose token is `token`. */
type BuildPage = (dated: DatedSnapshot, token: string | undefined) => Promise<Buffer>;

/**
 * Returns a response of the feed. Organizations that see the same snapshot share the cached bytes of a page for one UTC hour, and concurrent
 * requests share one build. Builders read the state at the snapshot's sequence numbers, so that later writes never leak into a page.
 */
export type FeedPages = { get: (request: FeedPageRequest, build: BuildPage) => Promise<CachedPage> };

export function createFeedPages(db: Db, snapshots: SnapshotCache): FeedPages {
  const cache = createPageCache();
  const building = new Map<string, Promise<CachedPage>>();
  let feedKey: Promise<Buffer> | undefined;
  const getFeedKey = (orgId: OrgId): Promise<Buffer> => {
    feedKey ??= inOrg(db, orgId, readFeedKey);
    feedKey.catch(() => (feedKey = undefined));
    return feedKey;
  };
  return {
    async get({ orgId, key, asOf, now }, build) {
      const snapshot = await snapshots.get(orgId);
      const dated =
        asOf === undefined
          ? { snapshot, hour: startOfHour(now) }
          : openSnapshotToken(await getFeedKey(orgId), asOf, { snapshot, now });
      const cacheKey = `${dated.snapshot.tag} ${dated.hour} ${key}`;
      const known = cache.get(cacheKey) ?? building.get(cacheKey);
      if (known) return known;
      const page = getFeedKey(orgId)
        .then((feedKey) => build(dated, sealSnapshotToken(feedKey, dated)))
        .then((body) => cache.put(cacheKey, body));
      building.set(cacheKey, page);
      return page.finally(() => building.delete(cacheKey));
    },
  };
}
