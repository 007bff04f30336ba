import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import { timeOfId } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { toRunScore, type RunScore } from '../../verdicts/analyst/analyst-score.ts';
import type { VerdictStats } from '../../verdicts/investigation/score.ts';
import { addToRunDays } from './runs.store.ts';

/** Keeps runs from ending until the transaction ends, so that a hit that is added to one is counted once: by its end, or by `recountHits`. */
export async function holdRuns(tx: Tx, orgId: OrgId, runIds: readonly string[]): Promise<void> {
  await sql`select from run_queue where organization_id = ${orgId} and run_id = any(${runIds}::uuid[]) order by run_id for share`.execute(
    tx,
  );
}

/** Counts the hits of ended runs again, and the triggered runs of their days. */
export async function recountHits(tx: Tx, orgId: OrgId, runIds: readonly string[]): Promise<void> {
  const dueAt = runIds.map((id) => timeOfId(id).toISOString());
  await sql`
    with ended as (
      select r.id, r.due_at, r.detection_id, r.finished_at, r.score_basis, r.triggered,
        (select count(distinct o.hit_id)::int from hit_occurrences o where o.organization_id = r.organization_id and o.run_id = r.id) as hits
      from runs r where r.organization_id = ${orgId} and r.due_at = any(${dueAt}::timestamptz[]) and r.id = any(${runIds}::uuid[])
        and r.status in ('completed', 'failed') order by r.id for update
    ), counted as (
      update runs r set hit_count = ended.hits, triggered = ended.hits > 0 from ended
      where r.organization_id = ${orgId} and r.due_at = ended.due_at and r.id = ended.id
    )
    ${addToRunDays(sql`
      select ${orgId}::uuid, detection_id, (finished_at at time zone 'UTC')::date, coalesce(score_basis, ''), 0,
        sum((hits > 0)::int - triggered::int)::int, 0::numeric, 0
      from ended where triggered <> (hits > 0) group by 2, 3, 4 order by 2, 3, 4`)}`.execute(tx);
}

type ScoredRun = {
  detectionId: string;
  score: number | null;
  basis: RunScore['basis'] | null;
  criteria: string;
  judging: string;
};

/**
 * Counts a dismissal of a run as wrong. Its criterion `dismissals` and its score fall, and so does the average of its day. A run that is graded later
 * counts it then.
 */
export async function countWrongDismissal(tx: Tx, orgId: OrgId, runId: string): Promise<void> {
  const isRun = sql`organization_id = ${orgId} and due_at = ${timeOfId(runId)} and id = ${runId}`;
  const run = await queryRow<ScoredRun>(tx)`
      select detection_id as "detectionId", score, score_basis as basis, score_criteria as criteria, judging from runs
      where ${isRun} and status in ('completed', 'failed') for update`;
  if (!run) return;
  const stats = JSON.parse(run.judging) as Partial<VerdictStats>;
  const { dismissals = 0, provenDismissals = 0 } = stats;
  const stood = Math.max(0, provenDismissals - 1);
  const criteria = (JSON.parse(run.criteria) as RunScore['criteria']).map((criterion) =>
    criterion.name === 'dismissals' && dismissals > 0
      ? {
          ...criterion,
          points: Math.round((10 * criterion.max * stood) / dismissals) / 10,
          reason: `${stood} of ${dismissals} dismissals stand after the audit`,
        }
      : criterion,
  );
  const score = run.basis === null || run.score === null ? null : toRunScore(run.basis, criteria).score;
  await sql`
    with rescored as (
      update runs set judging = ${JSON.stringify({ ...stats, provenDismissals: stood })}, score = ${score},
        score_criteria = ${JSON.stringify(criteria)} where ${isRun} returning finished_at
    )
    ${addToRunDays(sql`
      select ${orgId}::uuid, ${run.detectionId}::uuid, (finished_at at time zone 'UTC')::date, ${run.basis ?? ''}, 0, 0,
        ${(score ?? 0) - (run.score ?? 0)}::numeric, 0 from rescored where ${score !== null}`)}`.execute(tx);
}
