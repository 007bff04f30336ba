import { sql } from 'kysely';
import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import { reopenGaps } from '../../scheduling/coverage/fill-gaps.store.ts';
import { deleteQueueEntry, lockQueueEntry, requestCancellation } from '../../scheduling/queue/run-queue.store.ts';
import { findRun, type RunRow } from '../read-runs.store.ts';
import { toRunRecord } from '../run-record.ts';
import type { Run } from '../runs.schema.ts';

/** Cancels a queued run, or stops a running one at its next step. Throws `conflict` if the run has ended otherwise. */
export async function cancelRun({ db, clock }: { db: Db; clock: Clock }, caller: Caller, id: string): Promise<Run> {
  const { orgId } = caller;
  return inOrg(db, orgId, async (tx) => {
    const entry = await lockQueueEntry(tx, orgId, id);
    const run = await findRun(tx, orgId, id);
    if (!run) throw appError('not_found', `Run ${id} not found.`);
    if (run.status === 'cancelled' || entry?.cancelRequested) return toRunRecord(run);
    if (!entry) throw appError('conflict', `Run ${id} has already ended with status \`${run.status}\`.`);
    if (entry.state === 'running') await requestCancellation(tx, orgId, id);
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

async function cancelQueuedRun(
  tx: Tx,
  { orgId }: Caller,
  { id, dueAt, trigger, detectionId }: RunRow,
  now: Date,
): Promise<void> {
  await sql`
    with removed as (${deleteQueueEntry(orgId, id)})
    update runs set status = 'cancelled', status_reason = 'requested', finished_at = ${now}
    where organization_id = ${orgId} and due_at = ${dueAt} and id = ${id}`.execute(tx);
  if (trigger === 'backfill') await reopenGaps(tx, { orgId, detectionId }, { runId: id, now });
}
