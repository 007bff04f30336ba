import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { findDetectionState, findRun } from './read-runs.store.ts';
import { toRunRecord } from './run-record.ts';

/** Tells destinations that a run has ended; of a deleted detection nothing. Its revision is the attempt that ended it. */
export async function emitRun(
  tx: Tx,
  { orgId, runId }: { orgId: OrgId; runId: string },
  status: 'completed' | 'failed',
): Promise<void> {
  const type = `run.${status}` as const;
  await emitEvents(tx, [orgId], [type], async () => {
    const found = await findRun(tx, orgId, runId);
    if (!found || (await findDetectionState(tx, orgId, found.detection_id))?.deleted) return [];
    const run = toRunRecord(found);
    const { attempt: revision, detectionId } = run;
    return [{ orgId, type, resourceId: runId, revision, data: { organizationId: orgId, ...run }, detectionId }];
  });
}
