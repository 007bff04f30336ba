import type { Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import { storeChange } from './change.ts';
import { lockAgent } from './view-store.ts';

/**
 * Switches a detection off for `reason`, which its record then shows; a person switches it on again. Answers false where it was off
 * or deleted already. Call it before the transaction touches the schedule: a request locks the agent first and the schedule second.
 */
export async function disableDetection(
  tx: Tx,
  { orgId, detectionId, reason, now }: { orgId: OrgId; detectionId: string; reason: string; now: Date },
): Promise<boolean> {
  const before = await lockAgent(tx, { orgId, now }, detectionId);
  if (!before?.enabled || before.deleted_at || before.is_suggestion) return false;
  const after = { ...before, enabled: false, disabled_reason: reason };
  await storeChange(tx, before, after, {
    caller: { orgId, keyId: null },
    action: 'detection.disabled',
    now,
    reason: 'disabled',
  });
  return true;
}
