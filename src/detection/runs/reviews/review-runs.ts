import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import type { ModelStep } from '../../../platform/models/model-tool.ts';
import { budgetExceededError } from '../../../platform/models/model-error.ts';
import type { ConfiguredModel } from '../../../platform/models/models.ts';
import { findExhaustedBudget, type Spend } from '../../../platform/models/budgets.ts';
import { countUsage, readAllModels, readSpendQuotas, readUsage } from '../../../platform/models/model-usage.store.ts';
import { gradeRun } from '../../verdicts/investigation/grade-run.ts';
import { emptyVerdictStats, scoreModelRun, type VerdictStats } from '../../verdicts/investigation/score.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { findRun } from '../run-model/runs.store.ts';
import { listSteps } from '../run-model/progress.store.ts';
import { isUnusableAnswer } from '../../../platform/models/model-error.ts';
import { replayCandidates, type ReplayDeps } from './replay-run.ts';
import {
  claimReviewAcrossOrgs,
  deleteReview,
  postponeReview,
  writeGrade,
  type Review,
  findShadow,
  insertShadowVerdicts,
} from './reviews.store.ts';

export type ReviewDeps = ReplayDeps & { log: Logger };

const stepsMax = 200;
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
 * Reviews the run that has waited longest: its shadow judges it, or the judge model (alias `judge`) grades it. Returns whether a
 * run was waiting. A review that fails is retried later. After the twelfth failure the run stays without a score.
 */
export async function reviewNext(deps: ReviewDeps, signal: AbortSignal): Promise<boolean> {
  const model = deps.models?.find('judge');
  const review = await claimReviewAcrossOrgs(deps.db, model ? ['grade', 'shadow'] : ['shadow']);
  if (!review) return false;
  try {
    if (review.kind === 'shadow') await reviewWithShadow(deps, review, signal);
    else if (model) await gradeWithModel(deps, review, { model, signal });
  } catch (error) {
    if (signal.aborted) return false;
    deps.log.warn({ runId: review.runId, err: error }, 'review of a run failed');
    await postponeOrDelete(deps, review);
  }
  return true;
}

type GradeDeps = { db: Db; clock: Clock };

async function gradeWithModel(
  deps: GradeDeps,
  review: Review,
  { model, signal }: { model: ConfiguredModel; signal: AbortSignal },
): Promise<void> {
  const { steps, verdicts, stats } = await readFinishedRun(deps, review, model);
  const spend = (spent: Spend): Promise<void> =>
    inOrg(deps.db, review.orgId, (tx) => countUsage(tx, review, { alias: model.alias, ...spent }, deps.clock()));
  const { grade, opinions } = await gradeRun({ model, signal, countSpend: spend, steps, verdicts });
  const score = scoreModelRun(stats, grade);
  await inOrg(deps.db, review.orgId, async (tx) => {
    if (await deleteReview(tx, review)) await writeGrade(tx, review, { score, opinions });
  });
}

async function readFinishedRun(deps: GradeDeps, review: Review, { alias, entry }: ConfiguredModel) {
  return inOrg(deps.db, review.orgId, async (tx) => {
    const usage = await readUsage(tx, review, alias, deps.clock());
    const quotas = await readSpendQuotas(tx, review.orgId);
    const reviewKey = { orgId: review.orgId, runId: review.runId, conversation: review.runId };
    const allModels = await readAllModels(tx, reviewKey, deps.clock());
    const totals = { run: { tokens: 0, costUsd: 0 }, runMs: 0, allModels, ...usage };
    const exhausted = findExhaustedBudget(entry.budgets, totals, quotas);
    if (exhausted) throw budgetExceededError(exhausted);
    const run = await findRun(tx, review.orgId, review.runId);
    if (!run) throw new Error(`Run ${review.runId} no longer exists.`);
    const steps = await listSteps(tx, review.orgId, review.runId, { after: null, limit: stepsMax });
    return {
      steps: steps.slice(0, stepsMax).map(({ body }) => JSON.parse(body) as ModelStep),
      verdicts: JSON.parse(run.entities) as Verdict[],
      stats: { ...emptyVerdictStats, ...(JSON.parse(run.judging) as Partial<VerdictStats>) },
    };
  });
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
