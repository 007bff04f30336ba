import type { Tx } from '../../platform/db/db.ts';
import { deleteRowsWithValue, replaceValue } from '../../platform/db/erasure.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** Deletes exceptions that contain a value and replaces it in test cases. Returns how many rows of each changed. */
export async function eraseFromDetections(
  tx: Tx,
  orgId: OrgId,
  value: string,
): Promise<{ exceptions: number; tests: number }> {
  const columns = ['entity', 'value', 'reason'];
  return {
    exceptions: await deleteRowsWithValue(tx, { orgId, table: 'exceptions', columns }, value),
    tests: await replaceValue(tx, { orgId, table: 'detection_tests', columns: ['cases'] }, value),
  };
}
