import { sql } from 'kysely';
import type { Score } from '../../verdicts/analyst/analyst-score.ts';
import { acrossOrgs, rows, type Db, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Claim } from '../../scheduling/claim-runs.store.ts';

const lease = sql`interval '5 minutes'`;

export type ReviewKind = 'grade' | 'shadow';
export type Review = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  dueAt: Date;
  day: string;
  failures: number;
  kind: ReviewKind;
};
export type Opinion = { entity: string; upheld: boolean };

type Finished = Pick<Claim, 'orgId' | 'runId' | 'detectionId' | 'dueAt'>;

/** Leaves a finished run to the judge model, in the transaction that finishes it. */
export async function insertReview(tx: Tx, run: Finished, now: Date): Promise<void> {
  await sql`
    insert into run_reviews (organization_id, run_id, kind, detection_id, due_at, day)
    values (${run.orgId}, ${run.runId}, 'grade', ${run.detectionId}, ${run.dueAt}, (${now}::timestamptz at time zone 'UTC')::date)
    on conflict do nothing`.execute(tx);
}

/** Leaves it to the detection's shadow, where it has one. */
export async function insertShadowReview(tx: Tx, run: Finished, now: Date): Promise<void> {
  await sql`
    insert into run_reviews (organization_id, run_id, kind, detection_id, due_at, day)
    select organization_id, ${run.runId}::uuid, 'shadow', detection_id, ${run.dueAt}::timestamptz, (${now}::timestamptz at time zone 'UTC')::date
    from shadows where organization_id = ${run.orgId} and detection_id = ${run.detectionId}
    on conflict do nothing`.execute(tx);
}

/** Takes one run that waits for its grade, for five minutes; the longest waiting first. */
export async function claimReviewAcrossOrgs(db: Db, kinds: ReviewKind[]): Promise<Review | undefined> {
  const [claimed] = await acrossOrgs(db, (tx) =>
    rows(
      tx,
      sql<Review>`
        update run_reviews set lease_until = clock_timestamp() + ${lease}
        where (organization_id, run_id, kind) in (
          select organization_id, run_id, kind from run_reviews
          where kind = any(${kinds}::text[]) and retry_at <= clock_timestamp() and (lease_until is null or lease_until < clock_timestamp())
          order by retry_at limit 1 for update skip locked)
        returning organization_id as "orgId", run_id as "runId", detection_id as "detectionId", due_at as "dueAt", day, failures, kind`,
    ),
  );
  return claimed;
}

/** Lets a grade that failed wait, the longer the more often it failed. */
export async function postponeReview(tx: Tx, { orgId, runId, kind }: Review, afterMs: number): Promise<void> {
  await sql`
    update run_reviews set failures = failures + 1, lease_until = null,
      retry_at = clock_timestamp() + ${`${afterMs} milliseconds`}::interval
    where organization_id = ${orgId} and run_id = ${runId} and kind = ${kind}`.execute(tx);
}

export async function dropReview(tx: Tx, { orgId, runId, kind }: Review): Promise<boolean> {
  const { numAffectedRows } =
    await sql`delete from run_reviews where organization_id = ${orgId} and run_id = ${runId} and kind = ${kind}`.execute(
      tx,
    );
  return Number(numAffectedRows ?? 0) > 0;
}

/**
 * Writes a late score to its run and to the day that it ended on: the run moves there from those without a score, so that a
 * recount gives the same. Keeps what the judge thinks of each verdict, to be held against what people say.
 */
export async function writeGrade(tx: Tx, review: Review, given: { score: Score; opinions: Opinion[] }): Promise<void> {
  const { orgId, runId, detectionId, dueAt, day } = review;
  const { score, criteria } = given.score;
  await sql`
    with graded as (
      update runs set score = ${score}, score_basis = 'judge', score_criteria = ${JSON.stringify(criteria)}
      where organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId} and score is null and ${score !== null}
      returning triggered, started_at
    ), facts as (
      update run_facts f set score_basis = 'judge' from graded
      where f.organization_id = ${orgId} and f.detection_id = ${detectionId} and f.last_run_at <= graded.started_at
    ), left_behind as (
      update run_days d set runs = d.runs - 1, triggered = d.triggered - graded.triggered::int from graded
      where d.organization_id = ${orgId} and d.detection_id = ${detectionId} and d.day = ${day}::date and d.score_basis = ''
    )
    insert into run_days as d (organization_id, detection_id, day, score_basis, runs, triggered, score_sum, scores)
    select ${orgId}::uuid, ${detectionId}::uuid, ${day}::date, 'judge', 1, graded.triggered::int, ${score ?? 0}::numeric, 1 from graded
    on conflict (organization_id, detection_id, day, score_basis) do update set runs = d.runs + 1,
      triggered = d.triggered + excluded.triggered, score_sum = d.score_sum + excluded.score_sum, scores = d.scores + 1`.execute(
    tx,
  );
  const { opinions } = given;
  await sql`
    insert into judge_opinions (organization_id, run_id, detection_id, entity, upheld)
    select ${orgId}::uuid, ${runId}::uuid, ${detectionId}::uuid, entity, upheld
    from unnest(${opinions.map(({ entity }) => entity)}::text[], ${opinions.map(({ upheld }) => upheld)}::boolean[]) as o (entity, upheld)
    on conflict do nothing`.execute(tx);
}
