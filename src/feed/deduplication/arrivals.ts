import { acrossOrgs, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import type { Logger } from '../../platform/lib/logging/logger.ts';
import { runLoop } from '../../platform/lib/concurrency/loop.ts';
import type { SnapshotCache } from '../items/snapshot/snapshot.ts';
import { advancePools, lockPool, nextCommitTime, publicPoolId } from '../items/writing/feed-pools.store.ts';
import { claimArrivals, deleteArrivals, insertNeighborArrivals } from './arrivals.store.ts';
import { recomputeGroups } from './recompute-groups.ts';
import { recomputeOverridesOf } from './recompute-overrides.ts';
import { scopeOfPool } from './recompute-pools.ts';

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
