import { sql } from 'kysely';
import type { Step } from '../../platform/models/model-step.ts';
import { rows, type Tx } from '../../platform/db/db.ts';
import { timeOfId } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Claim } from '../scheduling/claim-runs.store.ts';

const bodyMax = 200_000;

/**
 * Keeps a step of a run that nobody else writes steps of. `at` is the time that the run was due, as its id carries it, so that a
 * look-up prunes to one month; an attempt that did not count goes on with its numbers.
 */
export async function insertStep(
  tx: Tx,
  claim: Pick<Claim, 'orgId' | 'runId' | 'attempt' | 'dueAt'>,
  step: Step,
): Promise<void> {
  const whole = JSON.stringify(step);
  const body = whole.length <= bodyMax ? whole : JSON.stringify({ ...step, sent: 'too long to keep' });
  const mine = sql`at = ${claim.dueAt} and run_id = ${claim.runId} and attempt = ${claim.attempt}`;
  await sql`
    insert into run_steps (organization_id, run_id, attempt, n, at, body)
    select ${claim.orgId}::uuid, ${claim.runId}::uuid, ${claim.attempt}::int, (select coalesce(max(n), 0) + 1 from run_steps where ${mine}),
      ${claim.dueAt}::timestamptz, ${body}::text`.execute(tx);
}

export type StepRow = { attempt: number; n: number; body: string };

/** Steps of a run in order, after one that was the last of a page, `limit` + 1 of them. */
export function listSteps(
  tx: Tx,
  orgId: OrgId,
  runId: string,
  page: { after: { attempt: number; n: number } | null; limit: number },
): Promise<StepRow[]> {
  return rows(
    tx,
    sql<StepRow>`
      select attempt, n, body from run_steps
      where organization_id = ${orgId} and at = ${timeOfId(runId)} and run_id = ${runId}
        ${page.after ? sql`and (attempt, n) > (${page.after.attempt}, ${page.after.n})` : sql``}
      order by attempt, n limit ${page.limit + 1}`,
  );
}
