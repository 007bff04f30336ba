import { round, toRunScore, type ScoreCriterion, type RunScore } from '../analyst/analyst-score.ts';
import type { Conclusion, Verdict } from '../verdict.ts';
import type { AcceptanceGrade } from './acceptance.ts';
import type { InvestigationTrace } from './investigate.ts';

/**
 * The counts behind the score of a model's run. `facts` and `proven` count claims of facts, `questions` and `answered` those of plans. `dismissals`
 * counts submitted ones, `provenDismissals` those that stood. `wasted` counts tool calls that were refused or repeated. `unjudged` counts candidates that
 * were raised from their facts.
 */
export type VerdictStats = {
  verdicts: number;
  facts: number;
  proven: number;
  questions: number;
  answered: number;
  dismissals: number;
  provenDismissals: number;
  toolCalls: number;
  wasted: number;
  repaired: number;
  unjudged: number;
};

export const emptyVerdictStats: VerdictStats = {
  verdicts: 0,
  facts: 0,
  proven: 0,
  questions: 0,
  answered: 0,
  dismissals: 0,
  provenDismissals: 0,
  toolCalls: 0,
  wasted: 0,
  repaired: 0,
  unjudged: 0,
};

type Judged = { verdict: Verdict; trace: InvestigationTrace };

/**
 * Returns the counts of one investigation. The questions are those of its plan. Without a plan, an investigation that had tools had one question:
 * whether the data say more than the rows. An observation that a standing fact cites answers it.
 */
export function countInvestigation({ verdict, trace }: Judged): VerdictStats {
  const facts = verdict.claims.filter(({ kind }) => kind === 'fact');
  const proven = facts.filter(({ status }) => status !== 'unproven');
  const { questions, hasTools, submitted, isRepaired, toolCalls, wasted } = trace;
  const isInvestigated = verdict.evidence.some(({ observation }) => /^o\d+$/.test(observation));
  return {
    verdicts: 1,
    facts: facts.length,
    proven: proven.length,
    questions: questions.length || Number(hasTools),
    answered:
      questions.length > 0
        ? questions.filter(({ observation }) => observation !== null).length
        : Number(hasTools && isInvestigated),
    dismissals: Number(submitted === ('dismiss' satisfies Conclusion)),
    provenDismissals: Number(submitted === 'dismiss' && verdict.verdict === 'dismiss'),
    toolCalls,
    wasted,
    repaired: Number(isRepaired),
    unjudged: 0,
  };
}

/** Adds up counts. */
export const addStats = (a: VerdictStats, b: VerdictStats): VerdictStats =>
  Object.fromEntries(Object.entries(a).map(([name, n]) => [name, n + b[name as keyof VerdictStats]])) as VerdictStats;

/** A run in which no question has an answer gets at most this many points of 100, however well it restates its rows. */
const unansweredMax = 69;

/**
 * Scores a run that a model judged, 0-100 with one decimal: proven claims 30, answered questions 20, dismissals with proof 15, acceptance criteria that
 * are met 20, economy 5, format 10. Criteria that do not apply are left out and the others are scaled. The score is at most `unansweredMax`, plus the rest
 * of 100 times the share of answered questions, so that a run that restates its rows although it had tools stays below 70. It is null below 40 applicable
 * points.
 */
export function scoreModelRun(stats: VerdictStats, grades: readonly AcceptanceGrade[] = []): RunScore {
  const criterion = (
    name: string,
    max: number,
    [part, whole]: [number, number],
    reason: string,
  ): ScoreCriterion | undefined =>
    whole === 0 ? undefined : { name, points: round((part / whole) * max), max, reason };
  const { verdicts, facts, proven, questions, answered, dismissals, provenDismissals, toolCalls, wasted, repaired } =
    stats;
  const basis = grades.some(({ gradedBy }) => gradedBy === 'judge') ? 'judge' : 'checked';
  if (verdicts === 0) return toRunScore(basis, []);
  const useful = toolCalls === 0 ? 1 : toolCalls - wasted;
  const met = grades.filter(({ isMet }) => isMet).length;
  const scoreMax = questions === 0 ? 100 : round(unansweredMax + (100 - unansweredMax) * (answered / questions));
  const limit = scoreMax < 100 ? `, so that the score is at most ${scoreMax}` : '';
  const score = toRunScore(basis, [
    criterion('claims', 30, [proven, Math.max(1, facts)], `${proven} of ${facts} facts are proven`),
    criterion(
      'questions',
      20,
      [answered, questions],
      `${answered} of ${questions} questions have an observation${limit}`,
    ),
    criterion(
      'dismissals',
      15,
      [provenDismissals, dismissals],
      `${provenDismissals} of ${dismissals} dismissals are proven`,
    ),
    criterion('acceptance', 20, [met, grades.length], `${met} of ${grades.length} acceptance criteria are met`),
    criterion(
      'economy',
      5,
      [useful, Math.max(1, toolCalls)],
      `${wasted} of ${toolCalls} tool calls were refused or repeated`,
    ),
    criterion('format', 10, [verdicts - repaired, verdicts], `${repaired} of ${verdicts} verdicts needed a repair`),
  ]);
  return { ...score, score: score.score && Math.min(score.score, scoreMax) };
}
