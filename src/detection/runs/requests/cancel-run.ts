import { sql } from 'kysely';
import { inOrg, row, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { insertAudit } from '../../../platform/orgs/audit.store.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { findRun, type RunRow } from '../read-runs.store.ts';
import { toRunRecord } from '../run-record.ts';
import { reopenGaps } from '../../scheduling/gap-windows.store.ts';
import type { Run } from '../runs.schema.ts';

/** Cancels a run that waits, and asks one that runs to stop at its next step. A cancelled one stays as it is; 409 once it has ended otherwise. */
export async function cancelRun({ db, clock }: Pick<Deps, 'db' | 'clock'>, caller: Caller, id: string): Promise<Run> {
  return inOrg(db, caller.orgId, async (tx) => {
    const queued = await lockQueued(tx, caller, id);
    const run = await findRun(tx, caller.orgId, id);
    if (!run) throw appError('not_found', `Run ${id} not found.`);
    if (run.status === 'cancelled' || queued?.cancel_requested) return toRunRecord(run);
    if (!queued) throw appError('conflict', `Run ${id} has ended: ${run.status}.`);
    if (queued.state === 'running') {
      await sql`update run_queue set cancel_requested = true where organization_id = ${caller.orgId} and run_id = ${id}`.execute(
        tx,
      );
    } else await dropQueued(tx, caller, run, clock());
    await insertAudit(tx, caller, {
      action: 'run.cancelled',
      resourceType: 'run',
      resourceId: id,
      before: { status: run.status },
      after: null,
    });
    return toRunRecord((await findRun(tx, caller.orgId, id))!);
  });
}

function lockQueued(
  tx: Tx,
  { orgId }: Caller,
  id: string,
): Promise<{ state: string; cancel_requested: boolean } | undefined> {
  return row(
    tx,
    sql<{ state: string; cancel_requested: boolean }>`
      select state, cancel_requested from run_queue where organization_id = ${orgId} and run_id = ${id} for update`,
  );
}

async function dropQueued(tx: Tx, { orgId }: Caller, run: RunRow, now: Date): Promise<void> {
  await sql`
    with gone as (delete from run_queue where organization_id = ${orgId} and run_id = ${run.id})
    update runs set status = 'cancelled', status_reason = 'requested', finished_at = ${now}
    where organization_id = ${orgId} and due_at = ${run.due_at} and id = ${run.id}`.execute(tx);
  if (run.trigger === 'backfill')
    await reopenGaps(tx, { orgId, detectionId: run.detection_id }, { runId: run.id, now });
}
