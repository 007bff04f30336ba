import type { Candidate } from '../../analysis/candidate.ts';

/** The figures behind the score of an analyst's run, summed over its windows. */
export type AnalystScoreInput = {
  rowsTotal: number;
  /** Whether the rows of any window were truncated. */
  truncated: boolean;
  /** Share of the entities that come from a named field, 0 to 1. */
  namedShare: number;
  warnings: number;
  /** Whether the detection's category compares with the past. */
  usesHistory: boolean;
  /** Whether the category has too few earlier windows to compare with. */
  learning: boolean;
  candidates: readonly Pick<Candidate, 'facts'>[];
  /** How many of the detection's hits people reviewed, and how many of those were true positives. */
  reviewed: { total: number; right: number };
};

/** One criterion: `points` out of `max`, and the reason as text. */
export type ScoreCriterion = { name: string; points: number; max: number; reason: string };
export type RunScore = { score: number | null; basis: 'analyst' | 'checked' | 'judge'; criteria: ScoreCriterion[] };

const applicableMin = 40;
const reviewedMin = 10;

/**
 * Scores a run of the built-in analyst, 0-100 with one decimal: input 40, history 30, selectivity 30. Criteria that do not apply
 * are left out and the others are scaled. The score is null below 40 applicable points and for a run without rows.
 */
export function scoreAnalystRun(input: AnalystScoreInput): RunScore {
  if (input.rowsTotal === 0) return { score: null, basis: 'analyst', criteria: [] };
  return toRunScore('analyst', [scoreInput(input), scoreHistory(input), scoreSelectivity(input)]);
}

/** Leaves out criteria that do not apply and scales the others to 0-100. */
export function toRunScore(basis: RunScore['basis'], results: (ScoreCriterion | undefined)[]): RunScore {
  const criteria = results.filter((criterion) => criterion !== undefined);
  const max = criteria.reduce((sum, criterion) => sum + criterion.max, 0);
  const points = criteria.reduce((sum, criterion) => sum + criterion.points, 0);
  return { score: max < applicableMin ? null : round((100 * points) / max), basis, criteria };
}

/** 16 points for complete rows, 12 for entities from a named field, 12 for no warnings. */
function scoreInput({ truncated, namedShare, warnings }: AnalystScoreInput): ScoreCriterion {
  const points = (truncated ? 0 : 16) + 12 * namedShare + (warnings > 0 ? 0 : 12);
  const problems = [
    truncated ? 'the rows were truncated' : '',
    namedShare < 1 ? `${round(100 * (1 - namedShare))}% of the entities come from no named field` : '',
    warnings > 0 ? `${warnings} warning${warnings === 1 ? '' : 's'}` : '',
  ].filter((problem) => problem !== '');
  return {
    name: 'input',
    points: round(points),
    max: 40,
    reason: problems.join('; ') || 'complete rows, named entities, no warnings',
  };
}

function scoreHistory({ usesHistory, learning, candidates }: AnalystScoreInput): ScoreCriterion | undefined {
  if (!usesHistory) return undefined;
  if (learning) return { name: 'history', points: 0, max: 30, reason: 'still learning: fewer than 7 windows' };
  if (candidates.length === 0) return undefined;
  const enough = candidates.filter(({ facts }) => facts['enoughPast'] === true).length;
  return {
    name: 'history',
    points: round((30 * enough) / candidates.length),
    max: 30,
    reason: `${enough} of ${candidates.length} candidates have enough history`,
  };
}

function scoreSelectivity(input: AnalystScoreInput): ScoreCriterion | undefined {
  const { rowsTotal, learning, candidates, reviewed } = input;
  if (reviewed.total >= reviewedMin) {
    const reason = `${reviewed.right} of ${reviewed.total} reviewed hits were true positives`;
    return { name: 'selectivity', points: round((30 * reviewed.right) / reviewed.total), max: 30, reason };
  }
  if (learning) return undefined;
  const rows = candidates.reduce((sum, { facts }) => sum + readCount(facts['candidateRows']), 0);
  const share = Math.min(1, rows / rowsTotal);
  const isFew = candidates.length <= 3 || share <= 0.01;
  const points = isFew ? 30 : round((30 * (1 - share)) / 0.99);
  return {
    name: 'selectivity',
    points,
    max: 30,
    reason: `${candidates.length} ${candidates.length === 1 ? 'candidate' : 'candidates'} from ${round(100 * share)}% of the rows`,
  };
}

function readCount(fact: unknown): number {
  return typeof fact === 'number' ? fact : 0;
}

export function round(number: number): number {
  return Math.round(number * 10) / 10;
}
