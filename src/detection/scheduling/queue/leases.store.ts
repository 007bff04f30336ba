import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import { claimColumns, leaseEnd, type RunClaim } from './run-claim.ts';

/** A run that workers lost this many times is not queued again. */
const lossesMax = 3;

export type RenewedLease = { runId: string; worker: string; cancelRequested: boolean };

/**
 * Extends the leases of claims. A claim that is missing from the result is lost. A lease that has ended is not extended: its
 * worker has already stopped, so the extension would only delay the next one.
 */
export async function renewLeasesAcrossOrgs(db: Db, claims: RunClaim[]): Promise<RenewedLease[]> {
  return acrossOrgs(db, (tx) =>
    queryRows(
      tx,
      sql<RenewedLease>`
        update run_queue q set lease_until = ${leaseEnd}
        from unnest(${claims.map((claim) => claim.runId)}::uuid[], ${claims.map((claim) => claim.worker)}::text[]) as c (run_id, worker)
        where q.run_id = c.run_id and q.worker = c.worker and q.state = 'running' and q.lease_until > clock_timestamp()
        returning q.run_id as "runId", q.worker, q.cancel_requested as "cancelRequested"`,
    ),
  );
}

/**
 * Returns the milliseconds until the first due run that must wait can be claimed: until its next attempt, or until the end of
 * its lease while a worker holds it. Returns undefined if no due run waits. `now` is slot time.
 */
export async function findQueueWaitMsAcrossOrgs(db: Db, now: Date): Promise<number | undefined> {
  const found = await acrossOrgs(db, (tx) =>
    queryRow(
      tx,
      sql<{ ms: number }>`
        select ceil(greatest(extract(epoch from min(coalesce(lease_until, retry_at)) - clock_timestamp()), 0) * 1000) as ms
        from run_queue where start_at <= ${now} and (state = 'running' or retry_at > clock_timestamp()) having count(*) > 0`,
    ),
  );
  return found?.ms;
}

export type LostRun = { claim: RunClaim; cancelRequested: boolean };

/**
 * Returns runs with an ended lease to the queue, at most `limit`. Those lost for the third time and those with a requested
 * cancellation are claimed for the caller instead, who must end them.
 */
export async function reapLostRunsAcrossOrgs(db: Db, limit: number): Promise<{ requeued: number; toEnd: LostRun[] }> {
  const mustEnd = sql`(q.lost + 1 >= ${lossesMax} or q.cancel_requested)`;
  const reaped = await acrossOrgs(db, (tx) =>
    queryRows(
      tx,
      sql<RunClaim & { cancelRequested: boolean; mustEnd: boolean }>`
        with lost_runs as (
          select run_id from run_queue where state = 'running' and lease_until < clock_timestamp()
          order by lease_until limit ${limit} for update skip locked
        ), reaped as (
          update run_queue q set lost = q.lost + 1, state = case when ${mustEnd} then 'running' else 'queued' end,
            lease_until = case when ${mustEnd} then ${leaseEnd} end, worker = case when ${mustEnd} then ${uuidv7()} end
          from lost_runs where q.run_id = lost_runs.run_id
          returning ${claimColumns}, true as resumed, q.cancel_requested as "cancelRequested", q.state = 'running' as "mustEnd"
        ), updated_runs as (
          update runs r set status = 'queued' from reaped where not reaped."mustEnd" and r.due_at = reaped."dueAt" and r.id = reaped."runId"
        )
        select * from reaped`,
    ),
  );
  const toEnd = reaped
    .filter((row) => row.mustEnd)
    .map((row) => {
      const { cancelRequested, mustEnd: _, ...claim } = row;
      return { claim, cancelRequested };
    });
  return { requeued: reaped.length - toEnd.length, toEnd };
}
