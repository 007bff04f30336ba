import { exhausted, type Spent } from '../../../platform/models/budgets.ts';
import { gradeRun } from '../../verdicts/model/grade-run.ts';
import { budgetExceeded } from '../../../platform/models/model-error.ts';
import { modelScore, noJudging, type JudgingFigures } from '../../verdicts/model/model-score.ts';
import type { ModelRef } from '../../../platform/models/models.ts';
import type { Verdict } from '../../verdicts/verdict.ts';
import { inOrg } from '../../../platform/db/db.ts';
import { loop } from '../../../platform/lib/loop.ts';
import { findRun } from '../read-runs.store.ts';
import { claimReviewAcrossOrgs, dropReview, postponeReview, writeGrade, type Review } from './reviews.store.ts';
import { shadowRun } from './shadow-run.ts';
import type { RunDeps, ExaminedWindow } from '../run-types.ts';
import { listSteps } from '../steps.store.ts';
import { countUsage, readUsage } from '../../../platform/models/model-usage.store.ts';

const stepsMax = 200;
const failuresMax = 12;
const firstPauseMs = 30_000;
const longestPauseMs = 3_600_000;

/** Lets the judge model (alias `judge`) grade runs that have ended, and shadows judge them, one after the other, until the signal ends it. */
export function reviewLoop(deps: RunDeps, signal: AbortSignal): Promise<void> {
  return loop({ name: 'review', idleMs: 5_000, signal, log: deps.log }, () => reviewNext(deps, signal));
}

/** Looks once more at the run that waits longest; answers whether there was one. A judge that fails is asked again later, and after a dozen times the run stays without a score. */
export async function reviewNext(deps: RunDeps, signal: AbortSignal): Promise<boolean> {
  const model = deps.models?.find('judge');
  const review = await claimReviewAcrossOrgs(deps.db, model ? ['grade', 'shadow'] : ['shadow']);
  if (!review) return false;
  try {
    if (review.kind === 'shadow') await shadowRun(deps, review, signal);
    else if (model) await reviewOne(deps, review, { model, signal });
  } catch (error) {
    if (signal.aborted) return false;
    deps.log.warn({ runId: review.runId, err: error }, 'a run could not be looked at once more');
    await giveWay(deps, review);
  }
  return true;
}

async function reviewOne(deps: RunDeps, review: Review, by: { model: ModelRef; signal: AbortSignal }): Promise<void> {
  const read = await readRecord(deps, review, by.model);
  const spend = (spent: Spent): Promise<void> =>
    inOrg(deps.db, review.orgId, (tx) => countUsage(tx, review, { alias: by.model.alias, ...spent }, deps.clock()));
  const result = await gradeRun({ ...by, spend, steps: read.steps, verdicts: read.verdicts });
  const score = modelScore(read.figures, read.candidates, result.grade);
  await inOrg(deps.db, review.orgId, async (tx) => {
    // Whoever took the run over meanwhile has graded it.
    if (await dropReview(tx, review)) await writeGrade(tx, review, { score, opinions: result.opinions });
  });
}

async function readRecord(deps: RunDeps, review: Review, { alias, entry }: ModelRef) {
  return inOrg(deps.db, review.orgId, async (tx) => {
    const stored = await readUsage(tx, review, alias, deps.clock());
    const over = exhausted(entry.budgets, { run: { tokens: 0, costUsd: 0 }, runMs: 0, ...stored });
    if (over) throw budgetExceeded(over);
    const run = await findRun(tx, review.orgId, review.runId);
    if (!run) throw new Error('the run is gone');
    const steps = await listSteps(tx, review.orgId, review.runId, { after: null, limit: stepsMax });
    return {
      steps: steps.slice(0, stepsMax).map(({ body }) => JSON.parse(body) as unknown),
      verdicts: JSON.parse(run.entities) as Verdict[],
      figures: { ...noJudging, ...(JSON.parse(run.judging) as Partial<JudgingFigures>) },
      candidates: (JSON.parse(run.windows) as ExaminedWindow[]).reduce((sum, window) => sum + window.candidates, 0),
    };
  });
}

async function giveWay({ db }: RunDeps, review: Review): Promise<void> {
  const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** review.failures);
  await inOrg(db, review.orgId, async (tx) => {
    if (review.failures + 1 >= failuresMax) await dropReview(tx, review);
    else await postponeReview(tx, review, pauseMs);
  });
}
