import { sql } from 'kysely';
import { acrossOrgs, queryRow, type Db, type Tx, queryRows } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { RunClaim } from '../../scheduling/run-claim.ts';
import type { RunScore } from '../../verdicts/analyst/analyst-score.ts';
import type { AcceptanceGrade } from '../../verdicts/investigation/acceptance.ts';
import { addToRunDays, utcDay } from '../run-model/runs.store.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { VerdictComparison } from '../run-model/run-details.schema.ts';

const lease = sql`interval '5 minutes'`;

/** `grade`: the acceptance criteria of the run are graded. `shadow`: the shadow of the detection judges its candidates again. */
type ReviewKind = 'grade' | 'shadow';

/** A finished run that waits for a review. `day` is the UTC day on which the run ended. */
export type Review = {
  orgId: OrgId;
  runId: string;
  detectionId: string;
  dueAt: Date;
  day: string;
  failures: number;
  kind: ReviewKind;
};

type FinishedRun = Pick<RunClaim, 'orgId' | 'runId' | 'detectionId' | 'dueAt'>;

/** Schedules the grading of a run, in the transaction that finishes it. */
export async function insertReview(tx: Tx, run: FinishedRun, now: Date): Promise<void> {
  await sql`
    insert into run_reviews (organization_id, run_id, kind, detection_id, due_at, day)
    values (${run.orgId}, ${run.runId}, 'grade', ${run.detectionId}, ${run.dueAt}, ${utcDay(now)})
    on conflict do nothing`.execute(tx);
}

/** Schedules the review of a run by the shadow of its detection, if there is one. */
export async function insertShadowReview(tx: Tx, run: FinishedRun, now: Date): Promise<void> {
  await sql`
    insert into run_reviews (organization_id, run_id, kind, detection_id, due_at, day)
    select organization_id, ${run.runId}::uuid, 'shadow', detection_id, ${run.dueAt}::timestamptz, ${utcDay(now)}
    from shadows where organization_id = ${run.orgId} and detection_id = ${run.detectionId}
    on conflict do nothing`.execute(tx);
}

/** Claims the review that has waited longest, for five minutes. */
export async function claimReviewAcrossOrgs(db: Db): Promise<Review | undefined> {
  return acrossOrgs(
    db,
    (tx) =>
      queryRow<Review>(tx)`
        update run_reviews set lease_until = clock_timestamp() + ${lease}
        where (organization_id, run_id, kind) in (
          select organization_id, run_id, kind from run_reviews
          where retry_at <= clock_timestamp() and (lease_until is null or lease_until < clock_timestamp())
          order by retry_at limit 1 for update skip locked)
        returning organization_id as "orgId", run_id as "runId", detection_id as "detectionId", due_at as "dueAt", day, failures, kind`,
  );
}

/** Postpones a review that failed. */
export async function postponeReview(tx: Tx, { orgId, runId, kind }: Review, delayMs: number): Promise<void> {
  await sql`
    update run_reviews set failures = failures + 1, lease_until = null,
      retry_at = clock_timestamp() + ${`${delayMs} milliseconds`}::interval
    where organization_id = ${orgId} and run_id = ${runId} and kind = ${kind}`.execute(tx);
}

/** Returns false if another worker has already finished the review. */
export async function deleteReview(tx: Tx, { orgId, runId, kind }: Review): Promise<boolean> {
  const { numAffectedRows } = await sql`
      delete from run_reviews where organization_id = ${orgId} and run_id = ${runId} and kind = ${kind}`.execute(tx);
  return Number(numAffectedRows ?? 0) > 0;
}

/**
 * Stores the grades and the score of a run, and moves the run, within the roll-up of the day on which it ended, from the runs without a
 * score to those with its basis.
 */
export async function writeGrade(
  tx: Tx,
  { orgId, runId, detectionId, dueAt, day }: Review,
  { score: { score, basis, criteria }, acceptance }: { score: RunScore; acceptance: readonly AcceptanceGrade[] },
): Promise<void> {
  await sql`
    with graded as (
      update runs set acceptance = ${JSON.stringify(acceptance)}, score = ${score}, score_basis = ${score === null ? null : basis},
        score_criteria = ${JSON.stringify(score === null ? [] : criteria)}
      where organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId} and score is null
      returning triggered, started_at
    ), scored as (
      select * from graded where ${score !== null}
    ), updated_facts as (
      update run_facts f set score_basis = ${basis} from scored
      where f.organization_id = ${orgId} and f.detection_id = ${detectionId} and f.last_run_at <= scored.started_at
    ), removed_from_day as (
      update run_days d set runs = d.runs - 1, triggered = d.triggered - scored.triggered::int from scored
      where d.organization_id = ${orgId} and d.detection_id = ${detectionId} and d.day = ${day}::date and d.score_basis = ''
    )
    ${addToRunDays(sql`
      select ${orgId}::uuid, ${detectionId}::uuid, ${day}::date, ${basis}, 1, scored.triggered::int, ${score ?? 0}::numeric, 1
      from scored`)}`.execute(tx);
}

export type ShadowRow = { promptVersion: number | null; modelAlias: string | null; since: Date };

export function findShadow(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<ShadowRow | undefined> {
  return queryRow<ShadowRow>(tx)`
      select prompt_version as "promptVersion", model_alias as "modelAlias", created_at as since from shadows
      where organization_id = ${orgId} and detection_id = ${detectionId}`;
}

/** Sets the shadow of a detection and deletes the comparisons with the previous one. Its time moves strictly forward. */
export async function upsertShadow(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { promptVersion, modelAlias, since }: ShadowRow,
): Promise<void> {
  await sql`delete from shadow_verdicts where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
  await sql`
    insert into shadows (organization_id, detection_id, prompt_version, model_alias, created_at)
    values (${orgId}, ${detectionId}, ${promptVersion}, ${modelAlias}, ${since})
    on conflict (organization_id, detection_id) do update set prompt_version = excluded.prompt_version,
      model_alias = excluded.model_alias, created_at = greatest(excluded.created_at, shadows.created_at + interval '1 millisecond')`.execute(
    tx,
  );
}

export async function deleteShadow(tx: Tx, { orgId, detectionId }: DetectionKey): Promise<void> {
  await sql`delete from shadows where organization_id = ${orgId} and detection_id = ${detectionId}`.execute(tx);
}

export async function insertShadowVerdicts(
  tx: Tx,
  { orgId, detectionId, runId }: DetectionKey & { runId: string },
  { compared, now }: { compared: VerdictComparison[]; now: Date },
): Promise<void> {
  for (const comparison of compared) {
    await sql`
      insert into shadow_verdicts (organization_id, candidate_id, detection_id, run_id, at, differs, compared)
      values (${orgId}, ${comparison.candidateId}, ${detectionId}, ${runId}, ${now}, ${comparison.differs}::text[],
        ${JSON.stringify(comparison)})
      on conflict do nothing`.execute(tx);
  }
}

/** `latest` lists comparisons that differ. Their `compared` is JSON text. */
type ShadowDifferences = {
  compared: number;
  differing: number;
  latest: { runId: string; at: Date; compared: string }[];
};

export async function readShadowDifferences(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  limit: number,
): Promise<ShadowDifferences> {
  const ofDetection = sql`organization_id = ${orgId} and detection_id = ${detectionId}`;
  const counts = await queryRow<{ compared: number; differing: number }>(tx)`
      select count(*) as compared, count(*) filter (where differs <> '{}') as differing from shadow_verdicts where ${ofDetection}`;
  const latest = await queryRows<ShadowDifferences['latest'][number]>(tx)`
      select run_id as "runId", at, compared from shadow_verdicts where ${ofDetection} and differs <> '{}'
      order by at desc, candidate_id limit ${limit}`;
  return { ...counts!, latest };
}
