import { inOrg } from '../../../platform/db/db.ts';
import { judgeAgain } from './replay-run.ts';
import { dropReview, type Review } from './reviews.store.ts';
import type { RunDeps } from '../run-types.ts';
import { findShadow, insertShadowVerdicts } from './shadow.store.ts';

const candidatesMax = 100;
const shadowMs = 240_000;

/** Lets a detection's second version judge the candidates of a run that has ended, and keeps where it differs. Delivers nothing. */
export async function shadowRun(deps: RunDeps, review: Review, signal: AbortSignal): Promise<void> {
  const { orgId, runId } = review;
  const shadow = await inOrg(deps.db, orgId, (tx) => findShadow(tx, review));
  const input = {
    limit: candidatesMax,
    ...(shadow?.promptVersion ? { promptVersion: shadow.promptVersion } : {}),
    ...(shadow?.modelAlias ? { modelAlias: shadow.modelAlias } : {}),
  };
  // Within the lease of the review.
  const within = AbortSignal.any([signal, AbortSignal.timeout(shadowMs)]);
  const compared = shadow ? (await judgeAgain(deps, { orgId, id: runId, input }, within)).compared : [];
  const failed = compared.find(({ failure }) => failure);
  if (failed?.failure) throw new Error(`${failed.failure.kind}: ${failed.failure.message}`);
  // What was suppressed has no verdict to be compared with.
  const both = compared.filter(({ before }) => before !== null);
  await inOrg(deps.db, orgId, async (tx) => {
    if (await dropReview(tx, review)) await insertShadowVerdicts(tx, review, { compared: both, now: deps.clock() });
  });
}
