import type { Severity } from '../analysis/candidate.ts';
import type { HitStatus } from './hits.schema.ts';
import type { RiskHitRow } from './read-hits.store.ts';

const pointsBySeverity: Record<Severity, number> = { none: 0, low: 10, medium: 25, high: 50, critical: 100 };
/** What people dismissed adds nothing. */
const dismissed = new Set<HitStatus>(['false_positive', 'benign', 'outdated']);

export type RiskCause = Pick<RiskHitRow, 'id' | 'headline' | 'severity' | 'status' | 'lastSeenAt'> & { points: number };

/**
 * Returns the risk of an entity, and the hits that cause it, most points first. A hit adds points by its severity, times its confidence, times the
 * precision of its detection so far, which is 1 before the first review. One that a person confirmed adds all of them. Half of them are gone after each
 * half-life since the hit was last seen.
 */
export function computeRisk(
  hits: readonly RiskHitRow[],
  { now, halfLifeMs }: { now: Date; halfLifeMs: number },
): { score: number; causes: RiskCause[] } {
  const causes = hits.flatMap(({ confidence, truePositives, reviews, ...hit }) => {
    if (dismissed.has(hit.status)) return [];
    const trust = hit.status === 'true_positive' ? 1 : (confidence / 100) * ((truePositives + 1) / (reviews + 1));
    const ageMs = Math.max(0, now.getTime() - hit.lastSeenAt.getTime());
    const points = pointsBySeverity[hit.severity] * trust * 0.5 ** (ageMs / halfLifeMs);
    return points < 0.05 ? [] : [{ ...hit, points }];
  });
  const sorted = causes.toSorted((a, b) => b.points - a.points || (a.id < b.id ? -1 : 1));
  const score = roundTenth(sorted.reduce((sum, { points }) => sum + points, 0));
  return { score, causes: sorted.map((cause) => ({ ...cause, points: roundTenth(cause.points) })) };
}

const roundTenth = (value: number): number => Math.round(value * 10) / 10;
