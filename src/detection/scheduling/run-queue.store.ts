import { sql, type RawBuilder } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../platform/db/db.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { isNotSuspended } from '../../platform/orgs/orgs.store.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { claimColumns, leaseEnd, type ResponseKind, type RunClaim, type RunKind, type RunPhase } from './run-claim.ts';

// The only module besides claim-runs.store.ts, whose claim is one statement, that writes `run_queue`.

/** A run to queue. `startAt` is its earliest start in slot time. A null connection is the embedded log store. */
export type QueueEntry = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  dueAt: Date;
  startAt: Date;
  connectionId: string | null;
};

/** Concurrent backfills of an organization in each queue, and with each model alias. */
const backfillLaneCap = 2;

/** Queues runs of one kind, at most one manual and one backfill run per detection, and one that no worker has begun of the others. Returns the IDs of the queued runs. */
export async function insertQueueEntries(tx: Tx, kind: RunKind, entries: QueueEntry[]): Promise<Set<string>> {
  if (entries.length === 0) return new Set();
  const lanes =
    kind === 'backfill'
      ? sql`insert into lanes (organization_id, kind, cap) select distinct organization_id, ${kind}::text, ${backfillLaneCap}::int from entries`
      : sql`insert into lanes (organization_id, kind) select distinct organization_id, ${kind}::text from entries`;
  const queued = await queryRows<{ id: string }>(tx)`
      with entries as (
        select * from unnest(${entries.map((entry) => entry.orgId)}::uuid[], ${entries.map((entry) => entry.runId)}::uuid[],
          ${entries.map((entry) => entry.detectionId)}::uuid[], ${entries.map((entry) => entry.dueAt.toISOString())}::timestamptz[],
          ${entries.map((entry) => entry.startAt.toISOString())}::timestamptz[], ${entries.map((entry) => entry.connectionId)}::uuid[])
          as e (organization_id, run_id, detection_id, due_at, start_at, connection_id)
      ), new_lanes as (${lanes} on conflict do nothing)
      insert into run_queue (organization_id, run_id, detection_id, kind, due_at, start_at, connection_id)
      select organization_id, run_id, detection_id, ${kind}::text, due_at, start_at, connection_id from entries
      where ${kind}::text in ('schedule', 'continuous') or not exists (select from run_queue q where q.organization_id = entries.organization_id
        and q.detection_id = entries.detection_id and q.kind = ${kind})
      on conflict do nothing
      returning run_id as id`;
  return new Set(queued.map((row) => row.id));
}

/**
 * Cancels queued runs of detections, of any number of organizations. Running ones finish. A newer slot supersedes only
 * scheduled runs that no worker has begun, a disabled detection loses its scheduled runs that still have to be examined, and a deleted one
 * loses all runs. The form makes the planner look up each detection and each run in an index. It often takes the queue for empty, and would read
 * the whole of it instead.
 */
export async function cancelQueuedRuns(
  tx: Tx,
  detections: { orgId: string; detectionId: string }[],
  { reason, now }: { reason: 'superseded' | 'disabled' | 'deleted'; now: Date },
): Promise<void> {
  await sql`
    with removed as (
      delete from run_queue q
      where q.run_id = any (array(
        select o.run_id from unnest(${detections.map((detection) => detection.orgId)}::uuid[], ${detections.map((detection) => detection.detectionId)}::uuid[])
          as d (organization_id, detection_id) cross join lateral (
            select run_id from run_queue where organization_id = d.organization_id and detection_id = d.detection_id offset 0) o
      )) and coalesce(q.state = 'queued' and (${reason}::text = 'deleted' or (q.kind = 'schedule' and q.phase = 'examine'))
        and (${reason}::text <> 'superseded' or not q.begun), false)
      returning q.organization_id, q.run_id, q.due_at
    )
    update runs r set status = 'cancelled', status_reason = ${reason}, finished_at = ${now}
    from removed where r.organization_id = removed.organization_id and r.due_at = removed.due_at
      and r.id = removed.run_id`.execute(tx);
}

/**
 * Returns a claimed run to its queue. One that waits to be judged counts as running. The caller has locked the claim. With `countsAttempt` false
 * the attempt number is given back: the worker stopped in good order, or one claim did not suffice for all windows. `retryMs` delays the next
 * claim by the clock of the database.
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
      returning attempt, phase
    )
    update runs set status = 'queued', attempt = requeued.attempt from requeued
    where requeued.phase = 'examine' and organization_id = ${claim.orgId} and due_at = ${claim.dueAt}
    and id = ${claim.runId}`.execute(tx);
}

/** Returns claimed runs of an organization that nothing was written for to their queue. Each is then claimed alone. Does nothing for lost claims. */
export async function releaseUnbegunRuns(tx: Tx, claims: readonly RunClaim[]): Promise<void> {
  await sql`
    update run_queue q set state = 'queued', lease_until = null, worker = null, attempt = q.attempt - 1
    from unnest(${claims.map(({ runId }) => runId)}::uuid[], ${claims.map(({ worker }) => worker)}::text[]) as c (run_id, worker)
    where q.run_id = c.run_id and q.worker = c.worker and q.state = 'running'`.execute(tx);
}

/** More than the places of any model alias, which limit its lanes. */
const judgeLaneCap = 1000;

/**
 * Hands a claimed run over to the queue of those that the model alias judges. The caller has locked the claim. The run keeps its attempt and gets
 * the retries and the losses of a new run. It ends with `failure`, if its examination failed.
 */
export async function handOverRun(
  tx: Tx,
  { orgId, runId, kind }: RunClaim,
  { modelAlias, failure }: { modelAlias: string; failure: unknown },
): Promise<void> {
  const cap = kind === 'backfill' ? backfillLaneCap : judgeLaneCap;
  await sql`
    with new_lane as (
      insert into lanes (organization_id, kind, model_alias, cap) values (${orgId}, ${kind}, ${modelAlias}, ${cap}) on conflict do nothing
    )
    update run_queue set model_alias = ${modelAlias}, connection_id = null, failure = ${failure === null ? null : JSON.stringify(failure)},
      state = 'queued', lease_until = null, worker = null, retry_at = clock_timestamp(), attempt = attempt - 1, retries = 0, lost = 0
    where run_id = ${runId}`.execute(tx);
}

/** Runs of a response agent to queue. The alias of a model is never empty. */
export type ResponseEntries = { orgId: OrgId; agentId: string; modelAlias: string; runIds: string[]; dueAt: Date };

/** Queues runs of a response agent, which have no windows to examine, to be judged. */
export async function insertResponseEntries(
  tx: Tx,
  kind: ResponseKind,
  { orgId, agentId, modelAlias, runIds, dueAt }: ResponseEntries,
): Promise<void> {
  await sql`
    with new_lane as (
      insert into lanes (organization_id, kind, model_alias, cap) values (${orgId}, ${kind}, ${modelAlias}, ${judgeLaneCap}) on conflict do nothing
    )
    insert into run_queue (organization_id, run_id, detection_id, kind, model_alias, due_at, start_at)
    select ${orgId}::uuid, run_id, ${agentId}::uuid, ${kind}::text, ${modelAlias}::text, ${dueAt}::timestamptz, ${dueAt}::timestamptz
    from unnest(${runIds}::uuid[]) as run_id`.execute(tx);
}

/** Statement that deletes the queue entry of a run. */
export const deleteQueueEntry = (orgId: OrgId, runId: string): RawBuilder<unknown> =>
  sql`delete from run_queue where organization_id = ${orgId} and run_id = ${runId}`;

/** Statement that deletes the queue entries of the runs that a select returns. */
export const deleteQueueEntries = (orgId: OrgId, runIds: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`delete from run_queue where organization_id = ${orgId} and run_id in (${runIds})`;

export type QueueEntryState = { state: 'queued' | 'running'; cancelRequested: boolean };

/** Finds the queue entry of a run and locks it until the transaction ends. */
export function lockQueueEntry(tx: Tx, orgId: OrgId, runId: string): Promise<QueueEntryState | undefined> {
  return queryRow<QueueEntryState>(tx)`
      select state, cancel_requested as "cancelRequested" from run_queue
      where organization_id = ${orgId} and run_id = ${runId} for update`;
}

/** Makes a running run stop at its next step. */
export async function requestCancellation(tx: Tx, orgId: OrgId, runId: string): Promise<void> {
  await sql`
    update run_queue set cancel_requested = true where organization_id = ${orgId} and run_id = ${runId}`.execute(tx);
}

/** Copies the connection of each detection, or of `detectionId` only, and its delay to the schedule and the runs that wait to be examined. */
export async function applyConnections(tx: Tx, orgId: OrgId, detectionId: string | null = null): Promise<void> {
  await sql`
    with current as materialized (
      select a.organization_id, a.id, c.id as connection_id, coalesce(c.delay_minutes, 0) * 60000 as delay_ms
      from agents a left join connections c on c.organization_id = a.organization_id
        and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)
      where a.organization_id = ${orgId} and a.agent_type = 'detection' and (${detectionId}::uuid is null or a.id = ${detectionId}::uuid)
    ), updated_queue as (
      update run_queue q set connection_id = current.connection_id from current
      where q.organization_id = current.organization_id and q.detection_id = current.id and q.state = 'queued' and q.phase = 'examine'
        and q.connection_id is distinct from current.connection_id
    )
    update schedules s set delay_ms = current.delay_ms, connection_id = current.connection_id from current
    where s.organization_id = current.organization_id and s.detection_id = current.id
      and (s.delay_ms <> current.delay_ms or s.connection_id is distinct from current.connection_id)`.execute(tx);
}

/** A run that workers lost this many times is not queued again. */
const lossesMax = 3;

export type RenewedLease = { runId: string; worker: string; cancelRequested: boolean };

/**
 * Extends the leases of claims. A claim that is missing from the result is lost. A lease that has ended is not extended: its
 * worker has already stopped, so the extension would only delay the next one.
 */
export async function renewLeasesAcrossOrgs(db: Db, claims: RunClaim[]): Promise<RenewedLease[]> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRows<RenewedLease>(tx)`
        update run_queue q set lease_until = ${leaseEnd}
        from unnest(${claims.map((claim) => claim.runId)}::uuid[], ${claims.map((claim) => claim.worker)}::text[]) as c (run_id, worker)
        where q.run_id = c.run_id and q.worker = c.worker and q.state = 'running' and q.lease_until > clock_timestamp()
        returning q.run_id as "runId", q.worker, q.cancel_requested as "cancelRequested"`,
  );
}

/**
 * Returns the milliseconds until the first due run that must wait can be claimed: until its next attempt, or until the end of
 * its lease while a worker holds it. Returns undefined if no due run waits. `now` is slot time.
 */
export async function findQueueWaitMsAcrossOrgs(db: Db, now: Date): Promise<number | undefined> {
  const found = await acrossOrgs(
    db,
    (tx) =>
      queryRow<{ ms: number }>(tx)`
        select ceil(greatest(extract(epoch from min(coalesce(lease_until, retry_at)) - clock_timestamp()), 0) * 1000) as ms
        from run_queue where start_at <= ${now} and (state = 'running' or retry_at > clock_timestamp()) having count(*) > 0`,
  );
  return found?.ms;
}

/**
 * Returns runs with an ended lease to their queue, at most `limit`. Those lost for the third time and those with a requested
 * cancellation are claimed for the caller instead, who must end them.
 */
export async function reapLostRunsAcrossOrgs(
  db: Db,
  limit: number,
): Promise<{ requeued: number; toEnd: { claim: RunClaim; cancelRequested: boolean }[] }> {
  const mustEnd = sql`(q.lost + 1 >= ${lossesMax} or q.cancel_requested)`;
  const reaped = await acrossOrgs(
    db,
    (tx) =>
      queryRows<RunClaim & { cancelRequested: boolean; mustEnd: boolean }>(tx)`
        with lost_runs as (
          select run_id from run_queue where state = 'running' and lease_until < clock_timestamp()
          order by lease_until limit ${limit} for update skip locked
        ), reaped as (
          update run_queue q set lost = q.lost + 1, state = case when ${mustEnd} then 'running' else 'queued' end,
            lease_until = case when ${mustEnd} then ${leaseEnd} end, worker = ${uuidv7()}
          from lost_runs where q.run_id = lost_runs.run_id
          returning ${claimColumns}, true as resumed, q.cancel_requested as "cancelRequested", q.state = 'running' as "mustEnd"
        ), updated_runs as (
          update runs r set status = 'queued' from reaped where not reaped."mustEnd" and reaped.phase = 'examine' and r.due_at = reaped."dueAt" and r.id = reaped."runId"
        )
        select * from reaped`,
  );
  const toEnd = reaped
    .filter((row) => row.mustEnd)
    .map((row) => {
      const { cancelRequested, mustEnd: _, ...claim } = row;
      return { claim, cancelRequested };
    });
  return { requeued: reaped.length - toEnd.length, toEnd };
}

/** How long runs wait for a place in a queue before they are late. */
const lateMs = 30 * 60_000;

/** `since` is when the run of the oldest slot could have been claimed. `modelAlias` should judge it, and is empty if it waits to be examined. */
export type LateQueue = { phase: RunPhase; modelAlias: string; since: Date };

/** Returns the queues with late runs. Runs of paused connections and suspended organizations do not count. */
export function listLateQueuesAcrossOrgs(db: Db): Promise<LateQueue[]> {
  return acrossOrgs(
    db,
    (tx) => queryRows<LateQueue>(tx)`
      select late.* from (values ('examine'), ('judge')) as queues (phase) cross join lateral (
        select q.phase, q.model_alias as "modelAlias", coalesce(q.retry_at, q.start_at) as since from run_queue q
        where q.state = 'queued' and q.phase = queues.phase and q.start_at < now() - ${`${lateMs} milliseconds`}::interval
          and coalesce(q.retry_at, q.start_at) < now() - ${`${lateMs} milliseconds`}::interval and ${isNotSuspended(sql`q.organization_id`)}
          and (q.connection_id is null or q.connection_id <> all (array(select connection_id from connection_pauses)))
        order by q.start_at limit 1
      ) late`,
  );
}

type QueueCount = { phase: RunPhase; kind: string; state: string; n: number };

export function countQueueEntriesAcrossOrgs(db: Db): Promise<QueueCount[]> {
  const counts = sql<QueueCount>`select phase, kind, state, count(*) as n from run_queue group by phase, kind, state`;
  return acrossOrgs(db, (tx) => queryRows(tx, counts));
}
