import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { storeChange } from './change-detection.ts';
import { lockAgent } from './detection-views.store.ts';

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
