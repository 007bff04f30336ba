import { acrossOrgs, type Tx } from '../../platform/db/db.ts';
import type { Deps } from '../../app/deps.ts';
import { forgetViews } from '../items/snapshot/snapshot.ts';
import { loop } from '../../platform/lib/loop.ts';
import { settleDecided } from '../curation/recompute-overrides.ts';
import { advancePools, lockPools, publicPool } from '../items/writing/feed-pools.store.ts';
import { claimArrivals, dropArrivals, noteNeighbours } from './arrivals.store.ts';
import { settleItems } from './recompute-groups.ts';
import { universeOf } from './recompute-pools.ts';

const idleMs = 1_000;
const batchMax = 500;

/** Puts items in order across pools, until the signal ends it. Any number of processes may run it. */
export const arrivalsLoop = (deps: Deps, signal: AbortSignal): Promise<void> =>
  loop({ name: 'arrivals', idleMs, signal, log: deps.log }, () => settleArrivals(deps));

/**
 * A look at other pools, after the transaction that wrote the items: two that wrote at the same time did not see each other. What is new in
 * the public pool makes those of narrower pools be looked at again that may belong to it; these are put in order in their own pool, one pool a
 * transaction. Nothing of a narrower pool changes a wider one. Answers false when nothing waits.
 */
export async function settleArrivals({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<boolean> {
  const worked = await acrossOrgs(db, async (tx) => {
    const { poolId, ids } = await claimArrivals(tx, batchMax);
    if (poolId === undefined) return false;
    if (poolId === publicPool) await noteNeighbours(tx, ids);
    else await settleInPool(tx, { poolId, ids, now: clock() });
    await dropArrivals(tx, ids);
    return true;
  });
  if (worked) forgetViews(db);
  return worked;
}

async function settleInPool(tx: Tx, given: { poolId: string; ids: string[]; now: Date }): Promise<void> {
  const [pool] = await lockPools(tx, [given.poolId]);
  const at = new Date(Math.max(given.now.getTime(), pool!.last_added_at.getTime() + 1));
  const changed = await settleItems(tx, { universe: universeOf(given.poolId), at, seq: pool!.seq + 1 }, given.ids);
  await settleDecided(tx, given.ids, { at, moving: new Set() });
  if (changed.size > 0) await advancePools(tx, [given.poolId], at);
}
