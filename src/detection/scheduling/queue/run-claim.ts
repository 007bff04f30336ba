import { sql } from 'kysely';
import type { OrgId } from '../../../platform/lib/org-id.ts';

export const runKinds = ['schedule', 'manual', 'backfill'] as const;
export type RunKind = (typeof runKinds)[number];

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
  /** Model alias of the detection when the run was queued. Null for the built-in analyst. */
  modelAlias: string | null;
  /** True if an earlier claim has begun the run. */
  resumed: boolean;
};

/** Columns of `run_queue q` that make up a claim, except `resumed`. */
export const claimColumns = sql`q.organization_id as "orgId", q.run_id as "runId", q.detection_id as "detectionId", q.kind, q.due_at as "dueAt",
  q.attempt, q.retries, q.worker, q.model_alias as "modelAlias"`;

/** End of a lease that starts now. */
export const leaseEnd = sql`clock_timestamp() + ${`${leaseMs} milliseconds`}::interval`;
