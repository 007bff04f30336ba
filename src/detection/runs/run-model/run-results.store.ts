import { type RawBuilder, sql } from 'kysely';
import { type Db, inOrg, queryRow, queryRows, type TransactionWork, type Tx } from '../../../platform/db/db.ts';
import { timeOfId } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { ModelStep } from '../../../platform/models/model-request.ts';
import type { StepUsage } from '../../../platform/models/spend-meter.ts';
import { fenceRun, type RunClaim } from '../../scheduling/run-claim.ts';
import { type RunScore, toRunScore } from '../../verdicts/analyst/analyst-score.ts';
import type { ToolUse } from '../../verdicts/investigation/acceptance.ts';
import type { VerdictStats } from '../../verdicts/investigation/score.ts';
import type { ActiveRun } from './active-run.ts';
import type { RunFailure } from './run-failure.ts';
import { sumWindows } from './run-progress.ts';
import { addToRunDays } from './runs.store.ts';

/** Assignments of the columns of `runs` with the results so far. */
export function progressColumns({ progress }: ActiveRun): RawBuilder<unknown> {
  const { windows, entities, warnings, phases, suppressed, judging } = progress;
  const { rowsTotal, truncated, from, to } = sumWindows(progress);
  return sql`windows = ${JSON.stringify(windows)}, entities = ${JSON.stringify(entities)}, warnings = ${JSON.stringify(warnings)},
    phases = ${JSON.stringify(phases)}, suppressed = ${JSON.stringify(suppressed)}, judging = ${JSON.stringify(judging)},
    rows_total = ${rowsTotal}, truncated = ${truncated},
    window_from = coalesce(${from}, window_from), window_to = coalesce(${to}, window_to)`;
}

type RunKey = Pick<RunClaim, 'orgId' | 'dueAt' | 'runId'>;

const isRun = ({ orgId, dueAt, runId }: RunKey): RawBuilder<unknown> =>
  sql`organization_id = ${orgId} and due_at = ${dueAt} and id = ${runId}`;

/** Stores the results so far, in a fenced transaction. */
export async function writeProgress(tx: Tx, run: ActiveRun): Promise<void> {
  await sql`update runs set ${progressColumns(run)} where ${isRun(run.claim)}`.execute(tx);
}

/** Stores the warnings and phases of a run that did not complete. Its stored windows stay as they are. */
export async function writeWarningsAndPhases(tx: Tx, { claim, progress }: ActiveRun): Promise<void> {
  const { warnings, phases } = progress;
  await sql`
    update runs set warnings = ${JSON.stringify(warnings)}, phases = ${JSON.stringify(phases)}
      where ${isRun(claim)}`.execute(tx);
}

/** Stores why a run waits for its next attempt. */
export async function writeFailure(tx: Tx, claim: RunClaim, failure: RunFailure): Promise<void> {
  await sql`update runs set failure = ${JSON.stringify(failure)} where ${isRun(claim)}`.execute(tx);
}

/**
 * Adds the cost of a model step to its run. The transaction is fenced while the run is claimed. Its commit does not wait for the disk, but that of
 * the verdict does. So only a crash of the database server loses steps, those of the candidates that it interrupts.
 */
export async function writeStepUsage(tx: Tx, run: RunKey, { calls, tokens, costUsd, ms }: StepUsage): Promise<void> {
  await sql`
    update runs set calls = calls + ${calls}, tokens = tokens + ${tokens}, cost_usd = cost_usd + ${costUsd}, elapsed_ms = elapsed_ms + ${ms}
    where ${isRun(run)} returning set_config('synchronous_commit', 'off', true)`.execute(tx);
}

/**
 * Runs a fenced transaction of a run, which stores its progress. Judging may change `run.progress` in it, in contrast to other transactions:
 * the progress is reset before `work` runs again, so that a transaction that is repeated adds its results once.
 */
export function inRunTransaction<T>(db: Db, run: ActiveRun, work: TransactionWork<T>): Promise<T> {
  const before = structuredClone(run.progress);
  let isRepeated = false;
  return inOrg(db, run.orgId, async (tx) => {
    if (isRepeated) Object.assign(run.progress, structuredClone(before));
    isRepeated = true;
    await fenceRun(tx, run.claim);
    return work(tx);
  });
}

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
  if (step.observation !== undefined) await countObservation(tx, { orgId, dueAt }, step.observation);
}

/** Counts the size of an observation towards the quota of its organization, on the day when the run was due. */
async function countObservation(
  tx: Tx,
  { orgId, dueAt }: Pick<RunClaim, 'orgId' | 'dueAt'>,
  observation: unknown,
): Promise<void> {
  const [day, bytes] = [dueAt.toISOString().slice(0, 10), Buffer.byteLength(JSON.stringify(observation))];
  await sql`
    insert into usage_days as u (organization_id, day, observation_bytes) values (${orgId}, ${day}::date, ${bytes})
    on conflict (organization_id, day) do update
      set observation_bytes = u.observation_bytes + excluded.observation_bytes`.execute(tx);
}

/** The position of a step: its number `n` counts within the attempt. */
export type StepPosition = { attempt: number; n: number };

type StepRow = StepPosition & { body: string };

const toolCallsMax = 5_000;

/**
 * Lists which tools were called for which candidates of a run, without calls that failed. A response agent has no candidate. Reads the first 5,000 calls. The kind comes first in the text of a
 * step, so that the prompts of the other steps are not parsed.
 */
export function listToolUse(tx: Tx, orgId: OrgId, runId: string): Promise<ToolUse[]> {
  return queryRows<ToolUse>(tx)`
      select distinct "candidateId", tool from (
        select body ->> 'candidateId' as "candidateId", body -> 'tool' ->> 'name' as tool, body -> 'tool' ->> 'failed' as failed from (
          select body::json as body from run_steps
          where organization_id = ${orgId} and at = ${timeOfId(runId)} and run_id = ${runId} and body like '{"kind":"tool"%'
          order by attempt, n limit ${toolCallsMax}) s) c
      where failed = 'false' order by "candidateId", tool`;
}

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

/** Keeps runs from ending until the transaction ends, so that a hit that is added to one is counted once: by its end, or by `recountHits`. */
export async function holdRuns(tx: Tx, orgId: OrgId, runIds: readonly string[]): Promise<void> {
  await sql`
    select from run_queue
      where organization_id = ${orgId} and run_id = any(${runIds}::uuid[]) order by run_id for share`.execute(tx);
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
