import type { Tx } from '../../platform/db/db.ts';
import { advancePools, lockPools, privatePool } from '../items/writing/feed-pools.store.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/**
 * Moves the organization's own pool on and answers its new sequence number: its lists, totals and ETags are others from here, and nobody
 * else's are. The pool stays locked until the transaction ends.
 */
export async function moveOwnPool(tx: Tx, orgId: OrgId): Promise<number> {
  const poolId = await privatePool(tx, orgId, uuidv7());
  const [pool] = await lockPools(tx, [poolId]);
  await advancePools(tx, [poolId], pool!.last_added_at);
  return pool!.seq + 1;
}

/** The same around work that says something of items: the pool is held while it runs, and moves on where that answers true. */
export async function withOwnPool(tx: Tx, orgId: OrgId, work: () => Promise<boolean>): Promise<void> {
  const poolId = await privatePool(tx, orgId, uuidv7());
  const [pool] = await lockPools(tx, [poolId]);
  if (await work()) await advancePools(tx, [poolId], pool!.last_added_at);
}
