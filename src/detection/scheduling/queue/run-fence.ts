import { sql, type RawBuilder } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { RunClaim } from './run-claim.ts';

/** The claim is no longer valid: another worker holds the run, or the run has ended. Nothing may be written for the claim. */
export class RunLostError extends Error {}

/** A user cancelled the run. */
export class RunCancelledError extends Error {}

/** Condition on `run_queue` that a claim is still valid. */
export const isClaimCurrent = (claim: RunClaim): RawBuilder<unknown> =>
  sql`run_id = ${claim.runId} and attempt = ${claim.attempt} and worker = ${claim.worker} and state = 'running'`;

/** Locks a claimed run until the transaction ends, so that no other worker can take it over. Throws `RunLostError`. */
export async function lockClaimedRun(tx: Tx, claim: RunClaim): Promise<{ cancelRequested: boolean }> {
  const locked = await queryRow<{ cancelRequested: boolean }>(tx)`
      select cancel_requested as "cancelRequested" from run_queue where ${isClaimCurrent(claim)} for update`;
  if (!locked) throw new RunLostError(`Run ${claim.runId} is no longer held by this worker.`);
  return locked;
}

/** Like `lockClaimedRun`, for a transaction that continues the run: also throws `RunCancelledError`. */
export async function fenceRun(tx: Tx, claim: RunClaim): Promise<void> {
  const { cancelRequested } = await lockClaimedRun(tx, claim);
  if (cancelRequested) throw new RunCancelledError(`Run ${claim.runId} was cancelled.`);
}
