import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { RunClaim, RunKind } from './run-claim.ts';

/** A run to queue. `startAt` is its earliest start in slot time. A null connection is the embedded log store. */
export type QueueEntry = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  dueAt: Date;
  startAt: Date;
  connectionId: string | null;
};

/** Lanes get the column default unless their kind is listed here. */
const backfillLaneCap = 2;

/**
 * Queues runs of one kind and creates their lanes. A detection has at most one manual and one backfill run in the queue:
 * further ones are skipped. Returns the ids of the queued runs.
 */
export async function insertQueueEntries(tx: Tx, kind: RunKind, entries: QueueEntry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const lanes =
    kind === 'backfill'
      ? sql`insert into lanes (organization_id, kind, cap) select distinct organization_id, ${kind}::text, ${backfillLaneCap}::int from entries`
      : sql`insert into lanes (organization_id, kind) select distinct organization_id, ${kind}::text from entries`;
  const queued = await queryRows(
    tx,
    sql<{ id: string }>`
      with entries as (
        select * from unnest(${entries.map((entry) => entry.orgId)}::uuid[], ${entries.map((entry) => entry.runId)}::uuid[],
          ${entries.map((entry) => entry.detectionId)}::uuid[], ${entries.map((entry) => entry.dueAt.toISOString())}::timestamptz[],
          ${entries.map((entry) => entry.startAt.toISOString())}::timestamptz[], ${entries.map((entry) => entry.connectionId)}::uuid[])
          as e (organization_id, run_id, detection_id, due_at, start_at, connection_id)
      ), new_lanes as (${lanes} on conflict do nothing)
      insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
      select organization_id, run_id, detection_id, ${kind}::text, due_at, start_at, connection_id from entries
      where ${kind}::text = 'schedule' or not exists (select from run_queue q where q.organization_id = entries.organization_id
        and q.detection_id = entries.detection_id and q.kind = ${kind})
      on conflict do nothing
      returning run_id as id`,
  );
  return new Set(queued.map((row) => row.id));
}

export type CancelledBy = 'superseded' | 'disabled' | 'deleted';

/**
 * Cancels queued runs of detections, of any number of organizations. Running ones finish. A newer slot supersedes only
 * scheduled runs that no worker has begun, a disabled detection loses its scheduled runs, and a deleted one loses all runs.
 */
export async function cancelQueuedRuns(
  tx: Tx,
  detections: { orgId: string; detectionId: string }[],
  { reason, now }: { reason: CancelledBy; now: Date },
): Promise<void> {
  await sql`
    with removed as (
      delete from run_queue q
      using unnest(${detections.map((detection) => detection.orgId)}::uuid[], ${detections.map((detection) => detection.detectionId)}::uuid[])
        as d (organization_id, detection_id)
      where q.organization_id = d.organization_id and q.detection_id = d.detection_id and q.state = 'queued'
        and (${reason}::text = 'deleted' or q.kind = 'schedule') and (${reason}::text <> 'superseded' or not q.begun)
      returning q.organization_id, q.run_id, q.due_at
    )
    update runs r set status = 'cancelled', status_reason = ${reason}, finished_at = ${now}
    from removed where r.organization_id = removed.organization_id and r.due_at = removed.due_at and r.id = removed.run_id`.execute(
    tx,
  );
}

/**
 * Returns a claimed run to the queue. The caller has locked the claim. With `countsAttempt` false the attempt number is given
 * back: the worker stopped in good order, or one claim did not suffice for all windows. `retryMs` delays the next claim by the
 * clock of the database.
 */
export async function requeueRun(
  tx: Tx,
  claim: RunClaim,
  { countsAttempt, retryMs }: { countsAttempt: boolean; retryMs?: number },
): Promise<void> {
  const retryAt = retryMs === undefined ? sql`null` : sql`clock_timestamp() + ${`${retryMs} milliseconds`}::interval`;
  await sql`
    with requeued as (
      update run_queue set state = 'queued', lease_until = null, worker = null, retry_at = ${retryAt},
        attempt = attempt - ${countsAttempt ? 0 : 1}::int, retries = retries + ${retryMs === undefined ? 0 : 1}::int
      where run_id = ${claim.runId}
      returning attempt
    )
    update runs set status = 'queued', attempt = requeued.attempt from requeued
    where organization_id = ${claim.orgId} and due_at = ${claim.dueAt} and id = ${claim.runId}`.execute(tx);
}
