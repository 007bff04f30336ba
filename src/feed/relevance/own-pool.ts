import type { Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { advancePools, ensurePrivatePool, lockPool } from '../items/writing/feed-pools.store.ts';

/**
 * Increases the sequence number of the organization's private pool and returns it. The lists, totals and ETags of this organization alone change
 * with it. The pool stays locked until the transaction ends.
 */
export async function advanceOwnPool(tx: Tx, orgId: OrgId): Promise<number> {
  const pool = await lockPool(tx, await ensurePrivatePool(tx, orgId, uuidv7()));
  await advancePools(tx, [pool.id], pool.last_added_at);
  return pool.seq + 1;
}

/** Runs `work` with the organization's private pool locked, and advances the pool if `work` returns that it changed something. */
export async function withOwnPoolLocked(tx: Tx, orgId: OrgId, work: () => Promise<boolean>): Promise<void> {
  const pool = await lockPool(tx, await ensurePrivatePool(tx, orgId, uuidv7()));
  if (await work()) await advancePools(tx, [pool.id], pool.last_added_at);
}
