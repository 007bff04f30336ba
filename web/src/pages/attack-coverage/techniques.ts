import type { CoveredTechnique } from '../../api/coverage.ts';

export type RehearsedState = NonNullable<CoveredTechnique['rehearsed']>['state'];

export type CoverageFilter = {
  q?: string | undefined;
  show?: 'threatened' | 'unwatched' | 'covered' | 'silent' | undefined;
};

export const isThreatened = ({ threats }: CoveredTechnique): boolean => threats !== null;
export const isWatched = ({ groupScore }: CoveredTechnique): boolean => groupScore > 0;
export const isUnwatchedThreat = (technique: CoveredTechnique): boolean =>
  isThreatened(technique) && !isWatched(technique);

export const percentOf = (score: number): number => Math.round(score * 100);

/** Returns what rehearsals of a technique and its sub-techniques showed: that one did not fire before that others fired. */
export function rehearsedState(techniques: readonly CoveredTechnique[]): RehearsedState | undefined {
  const states = new Set(techniques.flatMap(({ rehearsed }) => rehearsed?.state ?? []));
  return (['did_not_fire', 'fired', 'no_data'] as const).find((state) => states.has(state));
}

/** Returns whether a technique passes the filters of the page. The search compares IDs and names. */
export function matches(technique: CoveredTechnique, { q, show }: CoverageFilter): boolean {
  const words = q?.toLowerCase();
  if (words && !`${technique.id} ${technique.name}`.toLowerCase().includes(words)) return false;
  if (show === 'threatened') return isThreatened(technique);
  if (show === 'unwatched') return isUnwatchedThreat(technique);
  if (show === 'covered') return isWatched(technique);
  if (show === 'silent') return technique.rehearsed?.state === 'did_not_fire';
  return true;
}

/** Orders techniques by what needs attention: many relevant items and little coverage first. */
export const byNeed = (a: CoveredTechnique, b: CoveredTechnique): number =>
  needOf(b) - needOf(a) || (a.id < b.id ? -1 : 1);

const needOf = ({ threats, groupScore }: CoveredTechnique): number => (threats?.items ?? 0) * (1 - groupScore);
