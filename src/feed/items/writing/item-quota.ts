import type { Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readQuota } from '../../../platform/orgs/limits/limits.store.ts';
import { requireQuota } from '../../../platform/orgs/limits/quotas.ts';
import { countPrivateItems } from './counts.store.ts';

/** The quota of private items and how many more it allows. */
export type ItemRoom = { limit: number; room: number };

/**
 * Returns how many private items an organization may still add, or undefined without a quota. The number is exact until the transaction ends
 * if it has locked the private pool.
 */
export async function readItemRoom(tx: Tx, orgId: OrgId): Promise<ItemRoom | undefined> {
  const limit = await readQuota(tx, orgId, 'feedItems');
  if (limit === null) return undefined;
  return { limit, room: Math.max(0, limit - (await countPrivateItems(tx, orgId))) };
}

/** Throws `quota_reached` (409) if the organization may not add a private item. The caller has locked the private pool. */
export const requireItemQuota = (tx: Tx, orgId: OrgId): Promise<void> =>
  requireQuota(tx, orgId, 'feedItems', () => countPrivateItems(tx, orgId));
