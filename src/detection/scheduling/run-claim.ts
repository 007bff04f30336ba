import { sql, type RawBuilder } from 'kysely';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { queryRow, type Tx } from '../../platform/db/db.ts';

/** A run of a response agent is a `response` if a trigger started it, and a `request` if a person did, so that people do not wait for triggers. */
export const responseKinds = ['response', 'request'] as const;
export type ResponseKind = (typeof responseKinds)[number];
export const runKinds = ['schedule', 'manual', 'backfill', 'continuous', ...responseKinds] as const;
export type RunKind = (typeof runKinds)[number];

/** Returns whether a run is one of a response agent, which examines no windows. */
export const isResponseKind = (kind: string): kind is ResponseKind =>
  (responseKinds as readonly string[]).includes(kind);

/** The queue in which a run waits: its windows are examined, or its candidates are judged. */
export type RunPhase = 'examine' | 'judge';

/** How long a claim is valid without renewal. */
export const leaseMs = 60_000;

/** A run that a worker holds. `worker` identifies the claim: together with `attempt` it guards every write for the run. */
export type RunClaim = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  kind: RunKind | 'trial';
  dueAt: Date;
  attempt: number;
  retries: number;
  worker: string;
  phase: RunPhase;
  /** JSON of the failure that ended the examination, with which the run ends once its candidates are judged. */
  failure: string | null;
  /** True if an earlier claim has begun the run. */
  resumed: boolean;
};

/** Columns of `run_queue q` that make up a claim, except `resumed`. */
export const claimColumns = sql`q.organization_id as "orgId", q.run_id as "runId", q.detection_id as "detectionId", q.kind, q.due_at as "dueAt",
  q.attempt, q.retries, q.worker, q.phase, q.failure`;

/** End of a lease that starts now. */
export const leaseEnd = sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`;

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
