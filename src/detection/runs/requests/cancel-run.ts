import { sql } from 'kysely';
import { inOrg, queryRow, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { reopenGaps } from '../../scheduling/coverage/fill-gaps.store.ts';
import { findRun, type RunRow } from '../read-runs.store.ts';
import { toRunRecord } from '../run-record.ts';
import type { Run } from '../runs.schema.ts';

/**
 * Cancels a queued run, and makes a running one stop at its next step. Does nothing if the run is already cancelled. Throws
 * `conflict` if it has ended otherwise.
 */
export async function cancelRun({ db, clock }: { db: Db; clock: Clock }, caller: Caller, id: string): Promise<Run> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const entry = await lockQueueEntry(tx, caller, id);
    const run = await findRun(tx, orgId, id);
    if (!run) throw appError('not_found', `Run ${id} not found.`);
    if (run.status === 'cancelled' || entry?.cancel_requested) return toRunRecord(run);
    if (!entry) throw appError('conflict', `Run ${id} has already ended with status \`${run.status}\`.`);
    if (entry.state === 'running')
      await sql`update run_queue set cancel_requested = true where organization_id = ${orgId} and run_id = ${id}`.execute(
        tx,
      );
    else await cancelQueuedRun(tx, caller, run, clock());
    await insertAudit(tx, caller, {
      action: 'run.cancelled',
      resourceType: 'run',
      resourceId: id,
      before: { status: run.status },
      after: null,
    });
    return toRunRecord((await findRun(tx, orgId, id))!);
  });
}

type QueueEntryRow = { state: string; cancel_requested: boolean };

function lockQueueEntry(tx: Tx, { orgId }: Caller, id: string): Promise<QueueEntryRow | undefined> {
  return queryRow(
    tx,
    sql<QueueEntryRow>`
      select state, cancel_requested from run_queue where organization_id = ${orgId} and run_id = ${id} for update`,
  );
}

async function cancelQueuedRun(tx: Tx, { orgId }: Caller, run: RunRow, now: Date): Promise<void> {
  await sql`
    with removed as (delete from run_queue where organization_id = ${orgId} and run_id = ${run.id})
    update runs set status = 'cancelled', status_reason = 'requested', finished_at = ${now}
    where organization_id = ${orgId} and due_at = ${run.due_at} and id = ${run.id}`.execute(tx);
  if (run.trigger === 'backfill')
    await reopenGaps(tx, { orgId, detectionId: run.detection_id }, { runId: run.id, now });
}
