import { type Db, inOrg } from '../../../platform/db/db.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import { isUnusableAnswer, upstreamModelError } from '../../../platform/models/model-error.ts';
import type { ModelStep } from '../../../platform/models/model-request.ts';
import type { Models } from '../../../platform/models/models.ts';
import { createSpendMeter } from '../../../platform/models/spend-meter.ts';
import { findRevision } from '../../detections/history/history.store.ts';
import type { Definition } from '../../detections/record/detection-record.ts';
import { type AcceptanceCriterion, type AcceptanceGrade, gradeCheck } from '../../verdicts/investigation/acceptance.ts';
import { gradeRun } from '../../verdicts/investigation/grade-run.ts';
import { emptyVerdictStats, scoreModelRun, type VerdictStats } from '../../verdicts/investigation/score.ts';
import { budgetsOf } from '../judging/model/run-spend.ts';
import { insertStep, listSteps, listToolUse, writeStepUsage } from '../run-model/run-results.store.ts';
import type { RunVerdict } from '../run-model/run-progress.ts';
import { emitRunEvents } from '../run-model/run-record.ts';
import { findRun } from '../run-model/runs.store.ts';
import { replayCandidates, type ReplayDeps } from './replay-run.ts';
import {
  claimReviewAcrossOrgs,
  deleteReview,
  findShadow,
  insertShadowVerdicts,
  postponeReview,
  type Review,
  writeGrade,
} from './reviews.store.ts';

export type ReviewDeps = ReplayDeps & { log: Logger };

const candidatesMax = 100;
/** Less than the lease of a review. */
const shadowMsMax = 240_000;
const failuresMax = 12;
const firstDelayMs = 30_000;
const delayMsMax = 3_600_000;

/** Reviews finished runs, one at a time, until `signal` aborts. */
export function reviewLoop(deps: ReviewDeps, signal: AbortSignal): Promise<void> {
  return runLoop({ name: 'review', idleMs: 5_000, signal, log: deps.log }, () => reviewNext(deps, signal));
}

/**
 * Reviews the run that has waited longest: its shadow judges it, or its acceptance criteria are graded. Returns whether a
 * run was waiting. A review that fails is retried later. After the twelfth failure the run stays without a score.
 */
export async function reviewNext(deps: ReviewDeps, signal: AbortSignal): Promise<boolean> {
  const review = await claimReviewAcrossOrgs(deps.db);
  if (!review) return false;
  try {
    if (review.kind === 'shadow') await reviewWithShadow(deps, review, signal);
    else await gradeFinishedRun(deps, review, signal);
  } catch (error) {
    if (signal.aborted) return false;
    deps.log.warn({ runId: review.runId, err: error }, 'review of a run failed');
    await postponeOrDelete(deps, review);
  }
  return true;
}

async function postponeOrDelete({ db }: { db: Db }, review: Review): Promise<void> {
  const delayMs = Math.min(delayMsMax, firstDelayMs * 2 ** review.failures);
  await inOrg(db, review.orgId, async (tx) => {
    if (review.failures + 1 >= failuresMax) await deleteReview(tx, review);
    else await postponeReview(tx, review, delayMs);
  });
}

/** Lets the shadow of a detection judge the candidates of a finished run and stores the comparison. Delivers no hits. */
async function reviewWithShadow(deps: ReplayDeps, review: Review, signal: AbortSignal): Promise<void> {
  const { orgId, runId } = review;
  const shadow = await inOrg(deps.db, orgId, (tx) => findShadow(tx, review));
  const request = {
    limit: candidatesMax,
    ...(shadow?.promptVersion ? { promptVersion: shadow.promptVersion } : {}),
    ...(shadow?.modelAlias ? { modelAlias: shadow.modelAlias } : {}),
  };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(shadowMsMax)]);
  const compared = shadow ? (await replayCandidates(deps, { orgId, id: runId, request }, deadline)).compared : [];
  const failed = compared.find(({ failure }) => failure && !isUnusableAnswer(failure));
  if (failed?.failure) throw new Error(`${failed.failure.kind}: ${failed.failure.message}`);
  // Suppressed candidates have no verdict to compare with, and neither have those without a usable verdict of the shadow.
  const withBoth = compared.filter(({ before, after }) => before !== null && after !== null);
  await inOrg(deps.db, orgId, async (tx) => {
    if (await deleteReview(tx, review))
      await insertShadowVerdicts(tx, review, { compared: withBoth, now: deps.clock() });
  });
}

type GradeDeps = { db: Db; clock: Clock; models?: Models };

/** The alias of the model that grades sentences. Without it, the model of the detection does so in a fresh context. */
const judgeAlias = 'judge';

const stepsMax = 200;

/**
 * Grades the acceptance criteria that a run had, and stores its score: checks by code, sentences by a model, within the detection's budgets. Emits
 * `run.unaccepted` if one is not met. Throws if the model fails, so that the review is repeated.
 */
async function gradeFinishedRun(deps: GradeDeps, review: Review, signal: AbortSignal): Promise<void> {
  const run = await readFinishedRun(deps, review);
  const acceptance = run.verdicts.length === 0 ? [] : await gradeCriteria(deps, review, run, signal);
  const score = scoreModelRun(run.stats, acceptance);
  await inOrg(deps.db, review.orgId, async (tx) => {
    if (!(await deleteReview(tx, review))) return;
    await writeGrade(tx, review, { score, acceptance });
    if (acceptance.some(({ isMet }) => !isMet))
      await emitRunEvents(tx, review.orgId, { runIds: [review.runId], type: 'run.unaccepted' });
  });
}

type FinishedRun = Awaited<ReturnType<typeof readFinishedRun>>;

/** Reads a run with the definition that it used. Its verdicts are those that its model gave. */
async function readFinishedRun({ db }: GradeDeps, { orgId, runId, detectionId }: Review) {
  return inOrg(db, orgId, async (tx) => {
    const run = await findRun(tx, orgId, runId);
    const revision = run?.revision ? await findRevision(tx, { orgId, detectionId }, run.revision) : undefined;
    if (!run || !revision) throw new Error(`Run ${runId} no longer exists.`);
    const { tokens, costUsd, attempt, modelAlias } = run;
    const steps = await listSteps(tx, orgId, runId, { after: null, limit: stepsMax });
    return {
      spent: { tokens, costUsd },
      attempt,
      modelAlias,
      definition: JSON.parse(revision.definition) as Definition,
      steps: steps.slice(0, stepsMax).map(({ body }) => JSON.parse(body) as ModelStep),
      toolUse: await listToolUse(tx, orgId, runId),
      verdicts: (JSON.parse(run.entities) as RunVerdict[]).filter(({ unjudgedReason }) => unjudgedReason === undefined),
      stats: { ...emptyVerdictStats, ...(JSON.parse(run.judging) as Partial<VerdictStats>) },
    };
  });
}

/** Returns the grades in the order of the criteria. */
async function gradeCriteria(
  deps: GradeDeps,
  review: Review,
  run: FinishedRun,
  signal: AbortSignal,
): Promise<AcceptanceGrade[]> {
  const criteria = run.definition.acceptanceCriteria ?? [];
  const sentences = criteria.filter((criterion) => typeof criterion === 'string');
  const judged = sentences.length === 0 ? [] : await gradeSentences(deps, review, { run, sentences, signal });
  const gradeOf = new Map(judged.map((grade) => [grade.criterion, grade]));
  return criteria.map((criterion: AcceptanceCriterion) =>
    typeof criterion === 'string' ? gradeOf.get(criterion)! : gradeCheck(criterion, run.verdicts, run.toolUse),
  );
}

type SentenceTask = { run: FinishedRun; sentences: string[]; signal: AbortSignal };

async function gradeSentences(
  deps: GradeDeps,
  review: Review,
  { run, sentences, signal }: SentenceTask,
): Promise<AcceptanceGrade[]> {
  const alias = run.modelAlias ?? '';
  const model = deps.models?.find(judgeAlias) ?? deps.models?.find(alias);
  if (!model)
    throw upstreamModelError('unknown_model_alias', `The model alias "${alias}" is not configured.`, {
      retryable: false,
      pauses: false,
    });
  const { orgId, runId: id, detectionId } = review;
  const meter = createSpendMeter(deps, {
    spender: { orgId, detectionId, id, spent: run.spent, elapsedMs: 0 },
    overrides: budgetsOf(run),
    model,
    storeStep: async (tx, step, usage) => {
      await insertStep(tx, { ...review, attempt: run.attempt }, step);
      await writeStepUsage(tx, review, usage);
    },
  });
  const { steps, verdicts } = run;
  return gradeRun({ ...meter.startConversation(), model, sentences, steps, verdicts, signal });
}
