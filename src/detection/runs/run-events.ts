import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitEvents } from '../../platform/notifications/emit-events.ts';
import { getDetectionState } from './detection-state.store.ts';
import { findRun } from './read-runs.store.ts';
import { toRunRecord } from './run-record.ts';

/** Emits the event of a run that ended, unless its detection is deleted. Its revision is the attempt that ended the run. */
export async function emitRunEvent(
  tx: Tx,
  { orgId, runId }: { orgId: OrgId; runId: string },
  status: 'completed' | 'failed',
): Promise<void> {
  const type = `run.${status}` as const;
  await emitEvents(tx, [orgId], [type], async () => {
    const row = await findRun(tx, orgId, runId);
    if (!row || (await getDetectionState(tx, orgId, row.detection_id)).deleted) return [];
    const run = toRunRecord(row);
    const { attempt: revision, detectionId } = run;
    return [{ orgId, type, resourceId: runId, revision, data: { organizationId: orgId, ...run }, detectionId }];
  });
}
