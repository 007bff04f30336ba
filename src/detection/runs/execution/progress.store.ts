import { sql, type RawBuilder } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';
import { totalsOf, type Run, type RunFailure } from '../run-types.ts';

/** The columns of `runs` that hold what the run has done so far. */
export function progressColumns({ progress }: Run): RawBuilder<unknown> {
  const { windows, entities, warnings, phases, suppressed, judging } = progress;
  const { rowsTotal, truncated, from, to } = totalsOf(progress);
  return sql`windows = ${JSON.stringify(windows)}, entities = ${JSON.stringify(entities)}, warnings = ${JSON.stringify(warnings)},
    phases = ${JSON.stringify(phases)}, suppressed = ${JSON.stringify(suppressed)}, judging = ${JSON.stringify(judging)},
    rows_total = ${rowsTotal}, truncated = ${truncated},
    window_from = coalesce(${from}, window_from), window_to = coalesce(${to}, window_to)`;
}

/** Writes what the run has done so far, within a fenced transaction. */
export async function writeProgress(tx: Tx, run: Run): Promise<void> {
  await sql`update runs set ${progressColumns(run)}
    where organization_id = ${run.orgId} and due_at = ${run.claim.dueAt} and id = ${run.id}`.execute(tx);
}

/** Writes warnings and times of a run that a failure ended: what of its windows was stored stays as it is. */
export async function writeNotes(tx: Tx, run: Run): Promise<void> {
  const { warnings, phases } = run.progress;
  await sql`
    update runs set warnings = ${JSON.stringify(warnings)}, phases = ${JSON.stringify(phases)}
    where organization_id = ${run.orgId} and due_at = ${run.claim.dueAt} and id = ${run.id}`.execute(tx);
}

/** Shows why a run waits for its next attempt. */
export async function writeFailure(tx: Tx, claim: Claim, failure: RunFailure): Promise<void> {
  await sql`
    update runs set failure = ${JSON.stringify(failure)}
    where organization_id = ${claim.orgId} and due_at = ${claim.dueAt} and id = ${claim.runId}`.execute(tx);
}
