import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { storeChange } from './change-detection.ts';
import { lockAgent } from './detection-views.store.ts';

/**
 * Disables a detection and shows `reason` in its record until a person enables it again. Returns false if it was already
 * disabled or deleted. Requests lock the agent before the schedule, so call this before the transaction locks the schedule.
 */
export async function disableDetection(
  tx: Tx,
  { orgId, detectionId, reason, now }: { orgId: OrgId; detectionId: string; reason: string; now: Date },
): Promise<boolean> {
  const before = await lockAgent(tx, { orgId, now }, detectionId);
  if (!before?.enabled || before.deleted_at || before.is_suggestion) return false;
  const after = { ...before, enabled: false, disabled_reason: reason };
  const caller = { orgId, keyId: null };
  await storeChange(tx, before, after, { caller, action: 'detection.disabled', now, gapReason: 'disabled' });
  return true;
}
