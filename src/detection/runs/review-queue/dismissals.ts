import { inOrg, type Db } from '../../../platform/db/db.ts';
import type { Caller } from '../../../platform/http/caller.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { Models } from '../../../platform/models/models.ts';
import { findDetectionAlias } from '../../detections/detections.store.ts';
import { getDetectionState } from '../run-model/runs.store.ts';
import { findOtherVerifier } from './audit-dismissals.ts';
import { readAudit, type AuditedGroup } from './audit.store.ts';
import type { Dismissals } from './review-queue.schema.ts';

const days = 90;
const dayMs = 86_400_000;
/** The share of wrong dismissals is below the bound with this probability. */
const boundConfidence = 0.95;
const halvings = 60;

/** Returns how many dismissals of a detection the audit found wrong, and the bound that this allows. */
export async function getDismissals(
  { db, clock, models }: { db: Db; clock: Clock; models?: Models },
  { orgId }: Caller,
  detectionId: string,
): Promise<Dismissals> {
  const since = new Date(clock().getTime() - days * dayMs);
  const { groups, alias, ...counts } = await inOrg(db, orgId, async (tx) => {
    await getDetectionState(tx, orgId, detectionId);
    const key = { orgId, detectionId };
    return { ...(await readAudit(tx, key, since)), alias: await findDetectionAlias(tx, key) };
  });
  const audited = groups.reduce((sum, group) => sum + group.audited, 0);
  const wrong = groups.reduce((sum, group) => sum + group.wrong, 0);
  const bound = boundWrongShare(groups);
  // Rounded up, so that the bound is never better than the sample allows.
  const boundPercent = bound === null ? null : Math.min(100, Math.ceil(bound * 1000 - 1e-9) / 10);
  const confidencePercent = boundConfidence * 100;
  return {
    ...counts,
    days,
    audited,
    wrong,
    boundPercent,
    confidencePercent,
    verifiedBy: findOtherVerifier(models, alias),
    statement:
      boundPercent === null
        ? 'No dismissal has been audited.'
        : `${wrong} wrong of ${audited} audited: at most ${boundPercent} % of dismissals, ${confidencePercent} %`,
  };
}

/**
 * Returns the upper bound of the share of wrong dismissals, 0-1, or null without an audited one. It is the one-sided Clopper-Pearson bound (Clopper and
 * Pearson, Biometrika 26, 1934), which is exact for a binomial count. Audited dismissals that stand for different numbers of others count with their
 * weight, and the bound is that of the effective sample size (Korn and Graubard, Survey Methodology 24, 1998), rounded against the detection.
 */
export function boundWrongShare(groups: readonly AuditedGroup[]): number | null {
  const sum = (of: (group: AuditedGroup) => number): number => groups.reduce((total, group) => total + of(group), 0);
  const weights = sum(({ weight, audited }) => weight * audited);
  if (weights === 0) return null;
  const effective = weights ** 2 / sum(({ weight, audited }) => weight ** 2 * audited);
  const wrong = (effective * sum((group) => group.weight * group.wrong)) / weights;
  // Beyond the rounding of floating-point numbers.
  const n = Math.floor(effective + 1e-9);
  return upperBound(Math.min(n, Math.ceil(wrong - 1e-9)), n);
}

/** Returns the largest share with which at most `wrong` of `n` are found with a probability of at least 1 - `boundConfidence`. */
export function upperBound(wrong: number, n: number): number {
  if (wrong >= n) return 1;
  let [low, high] = [wrong / n, 1];
  for (let step = 0; step < halvings; step++) {
    const middle = (low + high) / 2;
    if (probabilityUpTo(wrong, n, middle) > 1 - boundConfidence) low = middle;
    else high = middle;
  }
  return high;
}

/** Returns the probability of at most `most` successes in `n` trials. */
function probabilityUpTo(most: number, n: number, share: number): number {
  let logTerm = n * Math.log1p(-share);
  let probability = Math.exp(logTerm);
  for (let k = 1; k <= most; k++) {
    logTerm += Math.log((n - k + 1) / k) + Math.log(share) - Math.log1p(-share);
    probability += Math.exp(logTerm);
  }
  return probability;
}
