import type { Candidate } from '../../analysis/candidate.ts';

/** What the score of an analyst's run looks at, summed over its windows. */
export type ScoreInput = {
  rowsTotal: number;
  /** Some window was covered only in part. */
  truncated: boolean;
  /** Share of the entities that a named field gave, 0 to 1. */
  namedShare: number;
  warnings: number;
  /** The detection's category compares with the past, and whether it still learns. */
  usesHistory: boolean;
  learning: boolean;
  candidates: readonly Pick<Candidate, 'facts'>[];
  /** What people said of the detection's hits: how many they judged, and how many of those were right. */
  reviewed: { total: number; right: number };
};

/** `points` of `max`, with the reason in words. */
export type Criterion = { name: string; points: number; max: number; reason: string };
export type Score = { score: number | null; basis: 'analyst' | 'checked' | 'judge'; criteria: Criterion[] };

const applicableMin = 40;
const reviewedMin = 10;

/**
 * Scores a run judged by the built-in analyst, 0-100 with one decimal: input 40, history 30, selectivity 30. A criterion that
 * could not fail is not counted and the rest is scaled; null below 40 applicable points, and for a run without rows.
 */
export function analystScore(input: ScoreInput): Score {
  if (input.rowsTotal === 0) return { score: null, basis: 'analyst', criteria: [] };
  const criteria = [inputOf(input), historyOf(input), selectivityOf(input)].flatMap((criterion) => criterion ?? []);
  const max = criteria.reduce((sum, criterion) => sum + criterion.max, 0);
  const points = criteria.reduce((sum, criterion) => sum + criterion.points, 0);
  return { score: max < applicableMin ? null : round((100 * points) / max), basis: 'analyst', criteria };
}

/** Sixteen points for all of the rows, twelve for entities by name, twelve for no warning. */
function inputOf({ truncated, namedShare, warnings }: ScoreInput): Criterion {
  const points = (truncated ? 0 : 16) + 12 * namedShare + (warnings > 0 ? 0 : 12);
  const faults = [
    truncated ? 'the rows were cut' : '',
    namedShare < 1 ? `${round(100 * (1 - namedShare))} % of the entities have no named field` : '',
    warnings > 0 ? `${warnings} warning${warnings === 1 ? '' : 's'}` : '',
  ].filter((fault) => fault !== '');
  return {
    name: 'input',
    points: round(points),
    max: 40,
    reason: faults.join('; ') || 'all rows, named entities, no warnings',
  };
}

function historyOf({ usesHistory, learning, candidates }: ScoreInput): Criterion | undefined {
  if (!usesHistory) return undefined;
  if (learning) return { name: 'history', points: 0, max: 30, reason: 'still learning: fewer than 7 windows' };
  if (candidates.length === 0) return undefined;
  const enough = candidates.filter(({ facts }) => facts['enoughPast'] === true).length;
  return {
    name: 'history',
    points: round((30 * enough) / candidates.length),
    max: 30,
    reason: `${enough} of ${candidates.length} candidates judged with enough past`,
  };
}

function selectivityOf({ rowsTotal, learning, candidates, reviewed }: ScoreInput): Criterion | undefined {
  if (reviewed.total >= reviewedMin) {
    const points = round((30 * reviewed.right) / reviewed.total);
    return {
      name: 'selectivity',
      points,
      max: 30,
      reason: `${reviewed.right} of ${reviewed.total} reviewed hits were right`,
    };
  }
  if (learning) return undefined;
  const rows = candidates.reduce((sum, { facts }) => sum + rowsOf(facts['candidateRows']), 0);
  const share = Math.min(1, rows / rowsTotal);
  const isFew = candidates.length <= 3 || share <= 0.01;
  const points = isFew ? 30 : round((30 * (1 - share)) / 0.99);
  return {
    name: 'selectivity',
    points,
    max: 30,
    reason: `${candidates.length} ${candidates.length === 1 ? 'candidate' : 'candidates'} from ${round(100 * share)} % of the rows`,
  };
}

function rowsOf(fact: unknown): number {
  return typeof fact === 'number' ? fact : 0;
}

function round(number: number): number {
  return Math.round(number * 10) / 10;
}
