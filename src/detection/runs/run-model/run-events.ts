import type { Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { emitEvents } from '../../../platform/notifications/emit-events.ts';
import type { EventType, OutgoingEvent } from '../../../platform/notifications/event-types.ts';
import { toRunRecord } from './run-record.ts';
import type { Run } from './runs.schema.ts';
import { findRun, isAgentDeleted } from './runs.store.ts';

/** The types of the events of runs. */
type RunEventType = Extract<EventType, `run.${string}`>;

/**
 * Emits an event of runs that ended, except those of deleted detections. The revision is the attempt that ended the run, and that of
 * `run.unaccepted` is one more.
 */
export async function emitRunEvents(
  tx: Tx,
  orgId: OrgId,
  { runIds, type }: { runIds: readonly string[]; type: RunEventType },
): Promise<void> {
  await emitEvents(tx, [orgId], [type], async () => {
    const events: OutgoingEvent[] = [];
    for (const runId of runIds) {
      const row = await findRun(tx, orgId, runId);
      if (!row || (await isAgentDeleted(tx, orgId, row.detectionId))) continue;
      const run = toRunRecord(row);
      const { attempt, detectionId } = run;
      const isUnaccepted = type === 'run.unaccepted';
      const revision = isUnaccepted ? attempt + 1 : attempt;
      const data = { organizationId: orgId, ...run, ...(isUnaccepted ? { detail: describeUnmet(run) } : {}) };
      events.push({ orgId, type, resourceId: runId, revision, data, detectionId });
    }
    return events;
  });
}

const describeUnmet = ({ acceptance }: Run): string =>
  acceptance
    .filter(({ isMet }) => !isMet)
    .map(({ criterion, reason }) => `Not met: ${criterion} ${reason}`)
    .join('\n');
