import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { advancePools, lockPool, nextCommitTime, publicPoolId } from '../items/writing/feed-pools.store.ts';
import type { ItemWrite } from '../items/writing/item-columns.ts';
import type { RemovedTerm } from '../items/writing/write-items.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { claimArrivals, deleteArrivals, insertArrivals, insertNeighborArrivals } from './arrivals.store.ts';
import { isComparedTerm, type PoolScope, type UnlinkableItem } from './deduplication.store.ts';
import { recomputeGroups } from './recompute-groups.ts';
import { recomputeOverridesOf } from './recompute-overrides.ts';

/** An item can join groups of its own pool and of the public one: everyone who sees a member must also see its root. */
export const scopeOfPool = (poolId: string): PoolScope => ({
  poolId,
  widerPoolIds: poolId === publicPoolId ? [] : [publicPoolId],
});

/** An item whose group is recomputed. `terms` is set if the transaction wrote the item; a first version is a new item. */
type RegroupedItem = Pick<ItemWrite, 'id' | 'poolId'> &
  (Pick<ItemWrite, 'version' | 'terms' | 'sketch' | 'canonicalKey'> | { terms?: never });

const isNew = (item: RegroupedItem): boolean => item.terms !== undefined && item.version === 1;

/** Returns the item's identities if it is new and has no value that could link it with another item: most records of a structured source. */
function readUnlinkable(item: RegroupedItem): UnlinkableItem[] {
  if (item.terms === undefined || item.version > 1) return [];
  const { id, canonicalKey, terms, sketch } = item;
  if (terms.some((term) => isComparedTerm(term, sketch !== null))) return [];
  return [{ id, canonicalKey, aliases: terms.flatMap(({ kind, value }) => (kind === 'alias' ? [value] : [])) }];
}

/**
 * Recomputes the groups of the items that a transaction wrote, pool by pool, and queues the items for the later comparison with other pools.
 * The pools must be locked. Returns the documents that changed, by item id.
 */
export async function recomputePools(
  tx: Tx,
  written: RegroupedItem[],
  commit: { removedTerms: RemovedTerm[]; at: Date; seqByPool: ReadonlyMap<string, number> },
): Promise<Map<string, string>> {
  const { removedTerms, at, seqByPool } = commit;
  const documents = new Map<string, string>();
  for (const [poolId, items] of Map.groupBy(written, (item) => item.poolId)) {
    const ids = [...new Set(items.map(({ id }) => id))];
    const groupCommit = { scope: scopeOfPool(poolId), at, seq: seqByPool.get(poolId)! };
    const unlinkable = items.flatMap(readUnlinkable);
    const changed = await recomputeGroups(tx, groupCommit, ids, { removedTerms, unlinkable });
    for (const [id, doc] of changed) documents.set(id, doc);
    // Items of narrower pools may point at an item that now has another root.
    await insertArrivals(tx, poolId, [...new Set([...ids, ...changed.keys()])]);
  }
  const roots = [...documents.values()].flatMap((doc) => (JSON.parse(doc) as FeedItem).duplicateOf ?? []);
  const known = written.flatMap((item) => (isNew(item) ? [] : [item.id]));
  const ids = [...new Set([...known, ...documents.keys(), ...roots])];
  // No organization overrides a new item, but perhaps the items that it was grouped with.
  if (ids.length > 0) await recomputeOverridesOf(tx, ids, { at, advancingPoolIds: new Set(seqByPool.keys()) });
  return documents;
}

const idleMs = 1_000;
// They bound how long a batch locks the pool, so that pulls and people do not wait for it.
const batchBounds = { countMax: 500, bytesMax: 2_000_000 };

type ArrivalsDeps = { db: Db; clock: Clock; snapshots: Pick<SnapshotCache, 'invalidate'> };

/** Calls `step`, which is `processArrivals`, until the signal aborts. Any number of processes may run it. */
export const arrivalsLoop = (log: Logger, signal: AbortSignal, step: () => Promise<boolean>): Promise<void> =>
  runLoop({ name: 'arrivals', idleMs, signal, log }, step);

/**
 * Processes a batch of queued items of one pool. Runs after the transaction that wrote them, because concurrent transactions do not see each
 * other's items. New public items queue the items of narrower pools that may belong to their groups; those are then regrouped in their own
 * pool. A narrower pool never changes a wider one. Returns false if the queue is empty.
 */
export async function processArrivals({ db, clock, snapshots }: ArrivalsDeps): Promise<boolean> {
  const hasWorked = await acrossOrgs(db, async (tx) => {
    const { poolId, ids } = await claimArrivals(tx, batchBounds);
    if (poolId === undefined) return false;
    if (poolId === publicPoolId) await insertNeighborArrivals(tx, ids);
    else await regroup(tx, { poolId, ids, now: clock() });
    await deleteArrivals(tx, poolId, ids);
    return true;
  });
  if (hasWorked) snapshots.invalidate();
  return hasWorked;
}

async function regroup(tx: Tx, { poolId, ids, now }: { poolId: string; ids: string[]; now: Date }): Promise<void> {
  const pool = await lockPool(tx, poolId);
  const at = nextCommitTime([pool], now);
  const changed = await recomputeGroups(tx, { scope: scopeOfPool(poolId), at, seq: pool.seq + 1 }, ids);
  await recomputeOverridesOf(tx, ids, { at, advancingPoolIds: new Set() });
  if (changed.size > 0) await advancePools(tx, [poolId], at);
}
