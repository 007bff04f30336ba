import { sql, type RawBuilder } from 'kysely';
import { row, type Tx } from '../../platform/db/db.ts';
import type { Claim } from './claim-runs.store.ts';

/** Another worker holds the run, or nobody does any more: whatever was to be written must not be. */
export class RunLost extends Error {}

/** Someone asked for the run to stop. */
export class RunCancelled extends Error {}

/** The condition on `run_queue` that a claim still holds its run. */
export const heldBy = (claim: Claim): RawBuilder<unknown> =>
  sql`run_id = ${claim.runId} and attempt = ${claim.attempt} and worker = ${claim.worker} and state = 'running'`;

/** Guards a transaction that ends a run or gives it back: no one can take it over until the transaction ends. Throws `RunLost`. */
export async function holdRun(tx: Tx, claim: Claim): Promise<{ cancel: boolean }> {
  const held = await row(
    tx,
    sql<{ cancel: boolean }>`select cancel_requested as cancel from run_queue where ${heldBy(claim)} for update`,
  );
  if (!held) throw new RunLost(`Run ${claim.runId} is no longer held by this worker.`);
  return held;
}

/** Guards a transaction that takes a run one step further. Throws `RunLost`, or `RunCancelled` where it is to stop. */
export async function fence(tx: Tx, claim: Claim): Promise<void> {
  const { cancel } = await holdRun(tx, claim);
  if (cancel) throw new RunCancelled(`Run ${claim.runId} is to be cancelled.`);
}

/**
 * Gives a run back to the queue. Fenced by the caller. `counted` false: the attempt does not count (an orderly stop, more
 * windows than one claim takes); `retryMs`: not to be claimed before, on the database's clock.
 */
export async function requeue(tx: Tx, claim: Claim, more: { counted: boolean; retryMs?: number }): Promise<void> {
  const retryAt =
    more.retryMs === undefined ? sql`null` : sql`clock_timestamp() + ${`${more.retryMs} milliseconds`}::interval`;
  await sql`
    with back as (
      update run_queue set state = 'queued', lease_until = null, worker = null, retry_at = ${retryAt},
        attempt = attempt - ${more.counted ? 0 : 1}::int, retries = retries + ${more.retryMs === undefined ? 0 : 1}::int
      where run_id = ${claim.runId}
      returning attempt
    )
    update runs set status = 'queued', attempt = back.attempt from back
    where organization_id = ${claim.orgId} and due_at = ${claim.dueAt} and id = ${claim.runId}`.execute(tx);
}
