import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import type { StepUsage } from '../../../platform/models/spending/spend-meter.ts';
import type { RunClaim } from '../../scheduling/queue/run-claim.ts';
import type { ActiveRun } from './active-run.ts';
import type { RunFailure } from './failures/run-failure.ts';
import { sumWindows } from './run-progress.ts';

/** Assignments of the columns of `runs` with the results so far. */
export function progressColumns({ progress }: ActiveRun): RawBuilder<unknown> {
  const { windows, entities, warnings, phases, suppressed, judging } = progress;
  const { rowsTotal, truncated, from, to } = sumWindows(progress);
  return sql`windows = ${JSON.stringify(windows)}, entities = ${JSON.stringify(entities)}, warnings = ${JSON.stringify(warnings)},
    phases = ${JSON.stringify(phases)}, suppressed = ${JSON.stringify(suppressed)}, judging = ${JSON.stringify(judging)},
    rows_total = ${rowsTotal}, truncated = ${truncated},
    window_from = coalesce(${from}, window_from), window_to = coalesce(${to}, window_to)`;
}

const isRun = ({ orgId, dueAt, runId }: RunClaim): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId}`;

/** Stores the results so far, in a fenced transaction. */
export async function writeProgress(tx: Tx, run: ActiveRun): Promise<void> {
  await sql`update runs set ${progressColumns(run)} where ${isRun(run.claim)}`.execute(tx);
}

/** Stores the warnings and phases of a run that did not complete. Its stored windows stay as they are. */
export async function writeWarningsAndPhases(tx: Tx, { claim, progress }: ActiveRun): Promise<void> {
  const { warnings, phases } = progress;
  await sql`update runs set warnings = ${JSON.stringify(warnings)}, phases = ${JSON.stringify(phases)} where ${isRun(claim)}`.execute(
    tx,
  );
}

/** Stores why a run waits for its next attempt. */
export async function writeFailure(tx: Tx, claim: RunClaim, failure: RunFailure): Promise<void> {
  await sql`update runs set failure = ${JSON.stringify(failure)} where ${isRun(claim)}`.execute(tx);
}

/** Adds the cost of a model step to its run, in a fenced transaction. */
export async function writeStepUsage(tx: Tx, { claim }: ActiveRun, { tokens, costUsd, ms }: StepUsage): Promise<void> {
  await sql`
    update runs set tokens = tokens + ${tokens}, cost_usd = cost_usd + ${costUsd}, elapsed_ms = elapsed_ms + ${ms}
    where ${isRun(claim)}`.execute(tx);
}
