import { sql } from 'kysely';
import type { ModelStep } from '../../platform/models/model-tool.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { RunClaim } from '../scheduling/queue/run-claim.ts';

/** Maximum length of a stored step, in UTF-16 code units of its JSON text. */
const bodyLengthMax = 200_000;

/**
 * Appends a step to a run. The caller must hold the run, so that nobody else appends. `at` is the time at which the run was due:
 * its ID contains that time, so that a lookup reads the partition of one month. An attempt that did not count keeps its number,
 * and the next one continues its steps.
 */
export async function insertStep(
  tx: Tx,
  claim: Pick<RunClaim, 'orgId' | 'runId' | 'attempt' | 'dueAt'>,
  step: ModelStep,
): Promise<void> {
  const { orgId, runId, attempt, dueAt } = claim;
  const text = JSON.stringify(step);
  const body =
    text.length <= bodyLengthMax ? text : JSON.stringify({ ...step, sent: 'Omitted because the step is too long.' });
  await sql`
    insert into run_steps (organization_id, run_id, attempt, n, at, body)
    select ${orgId}::uuid, ${runId}::uuid, ${attempt}::int,
      (select coalesce(max(n), 0) + 1 from run_steps where at = ${dueAt} and run_id = ${runId} and attempt = ${attempt}),
      ${dueAt}::timestamptz, ${body}::text`.execute(tx);
}

/** The position of a step: its number `n` counts within the attempt. */
export type StepPosition = { attempt: number; n: number };

export type StepRow = StepPosition & { body: string };

/** Lists `limit` + 1 steps of a run after a position, in order. */
export function listSteps(
  tx: Tx,
  orgId: OrgId,
  runId: string,
  { after, limit }: { after: StepPosition | null; limit: number },
): Promise<StepRow[]> {
  return queryRows<StepRow>(tx)`
      select attempt, n, body from run_steps
      where organization_id = ${orgId} and at = ${timeOfId(runId)} and run_id = ${runId}
        ${after ? sql`and (attempt, n) > (${after.attempt}, ${after.n})` : sql``}
      order by attempt, n limit ${limit + 1}`;
}
