import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { deleteRowsWithValue } from '../../platform/db/erasure.store.ts';

/** Deletes sightings whose event or observed value contains a value. */
export async function eraseFromSightings(tx: Tx, orgId: OrgId, value: string): Promise<Record<string, never>> {
  await deleteRowsWithValue(tx, { orgId, table: 'feed_exposures', columns: ['event', 'observed'] }, value);
  return {};
}
