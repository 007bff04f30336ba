import type { Severity } from '../analysis/candidate.ts';
import type { HitStatus } from './hits.schema.ts';
import type { RiskHitRow } from './read-hits.store.ts';

const pointsBySeverity: Record<Severity, number> = { none: 0, low: 10, medium: 25, high: 50, critical: 100 };
/** What people dismissed adds nothing. */
const dismissed = new Set<HitStatus>(['false_positive', 'benign', 'outdated']);

export type RiskCause = Pick<RiskHitRow, 'id' | 'headline' | 'severity' | 'status' | 'lastSeenAt'> & { points: number };

type RiskFactors = Pick<RiskHitRow, 'severity' | 'confidence' | 'status' | 'truePositives' | 'reviews'>;

/**
 * Returns the points that a hit adds to the risk of its entity at the time when it was seen: by its severity, times its confidence, times the precision
 * of its detection so far, which is 1 before the first review. One that a person confirmed adds all of them.
 */
export function riskPoints({ severity, confidence, status, truePositives, reviews }: RiskFactors): number {
  if (dismissed.has(status)) return 0;
  const trust = status === 'true_positive' ? 1 : (confidence / 100) * ((truePositives + 1) / (reviews + 1));
  return pointsBySeverity[severity] * trust;
}

/** Returns the risk of an entity, and the hits that cause it, most points first. Half of the points are gone after each half-life since a hit was last seen. */
export function computeRisk(
  hits: readonly RiskHitRow[],
  { now, halfLifeMs }: { now: Date; halfLifeMs: number },
): { score: number; causes: RiskCause[] } {
  const causes = hits.flatMap(({ confidence, truePositives, reviews, ...hit }) => {
    const ageMs = Math.max(0, now.getTime() - hit.lastSeenAt.getTime());
    const points = riskPoints({ ...hit, confidence, truePositives, reviews }) * 0.5 ** (ageMs / halfLifeMs);
    return points < 0.05 ? [] : [{ ...hit, points }];
  });
  const sorted = causes.toSorted((a, b) => b.points - a.points || (a.id < b.id ? -1 : 1));
  const score = roundTenth(sorted.reduce((sum, { points }) => sum + points, 0));
  return { score, causes: sorted.map((cause) => ({ ...cause, points: roundTenth(cause.points) })) };
}

const dayMs = 86_400_000;

/** Returns the risk at the end of each of the last days, oldest first. The last one is the risk now. */
export const listDailyRisk = (
  hits: readonly RiskHitRow[],
  { now, halfLifeMs, days }: { now: Date; halfLifeMs: number; days: number },
): { at: Date; score: number }[] =>
  Array.from({ length: days }, (_, index) => {
    const at = new Date(now.getTime() - (days - 1 - index) * dayMs);
    const known = hits.filter(({ lastSeenAt }) => lastSeenAt <= at || index === days - 1);
    return { at, score: computeRisk(known, { now: at, halfLifeMs }).score };
  });

const roundTenth = (value: number): number => Math.round(value * 10) / 10;
