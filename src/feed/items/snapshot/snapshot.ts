import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readPools, type PoolVersion } from './pools.store.ts';

/**
 * The feed as an organization sees it at one moment: the pools that it sees, each with its sequence number. Snapshots with equal tags have
 * equal content.
 */
export type Snapshot = { tag: string; poolIds: string[]; seqs: number[] };

export type SnapshotCache = {
  /** Returns the organization's current snapshot. Concurrent requests share one query. */
  get: (orgId: OrgId) => Promise<Snapshot>;
  /** Drops all entries. Call it after a commit that changed the feed, so that the next reader in this process sees the change. */
  invalidate: () => void;
};

// Bounds how long the writes of another process stay unseen. Writes of this process call `invalidate`.
const freshMs = 100;
const orgsMax = 10_000;

export function createSnapshotCache(db: Db): SnapshotCache {
  // With a `ttlResolution` above 0, entries would outlive their time while the event loop is too busy to run timers.
  const snapshots = new LRUCache<OrgId, Promise<Snapshot>>({ max: orgsMax, ttl: freshMs, ttlResolution: 0 });
  return {
    get(orgId) {
      const fresh = snapshots.get(orgId);
      if (fresh) return fresh;
      const snapshot = inOrg(db, orgId, readPools).then(toSnapshot);
      snapshots.set(orgId, snapshot);
      snapshot.catch(() => snapshots.delete(orgId));
      return snapshot;
    },
    invalidate: () => snapshots.clear(),
  };
}

export function toSnapshot(pools: PoolVersion[]): Snapshot {
  const tag = createHash('sha256').update(JSON.stringify(pools)).digest('base64url').slice(0, 22);
  return { tag, poolIds: pools.map(([id]) => id), seqs: pools.map(([, seq]) => seq) };
}
