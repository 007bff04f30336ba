import { inOrg } from '../../../platform/db/db.ts';
import { replayCandidates, type ReplayDeps } from './replay-run.ts';
import { deleteReview, type Review } from './reviews.store.ts';
import { findShadow, insertShadowVerdicts } from './shadow.store.ts';

const candidatesMax = 100;
/** Less than the lease of a review. */
const shadowMsMax = 240_000;

/** Lets the shadow of a detection judge the candidates of a finished run and stores the comparison. Delivers no hits. */
export async function reviewWithShadow(deps: ReplayDeps, review: Review, signal: AbortSignal): Promise<void> {
  const { orgId, runId } = review;
  const shadow = await inOrg(deps.db, orgId, (tx) => findShadow(tx, review));
  const request = {
    limit: candidatesMax,
    ...(shadow?.promptVersion ? { promptVersion: shadow.promptVersion } : {}),
    ...(shadow?.modelAlias ? { modelAlias: shadow.modelAlias } : {}),
  };
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(shadowMsMax)]);
  const compared = shadow ? (await replayCandidates(deps, { orgId, id: runId, request }, deadline)).compared : [];
  const failed = compared.find(({ failure }) => failure);
  if (failed?.failure) throw new Error(`${failed.failure.kind}: ${failed.failure.message}`);
  // Suppressed candidates have no verdict to compare with.
  const withBoth = compared.filter(({ before }) => before !== null);
  await inOrg(deps.db, orgId, async (tx) => {
    if (await deleteReview(tx, review))
      await insertShadowVerdicts(tx, review, { compared: withBoth, now: deps.clock() });
  });
}
