import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Logger } from '../../../platform/lib/logging/logger.ts';
import { runLoop } from '../../../platform/lib/concurrency/loop.ts';
import { isUnusableAnswer } from '../../../platform/models/model-error.ts';
import { gradeFinishedRun } from './grade-finished-run.ts';
import { replayCandidates, type ReplayDeps } from './replay-run.ts';
import {
  claimReviewAcrossOrgs,
  deleteReview,
  postponeReview,
  type Review,
  findShadow,
  insertShadowVerdicts,
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
