import { round, toRunScore, type ScoreCriterion, type RunScore } from '../analyst/analyst-score.ts';
import type { Conclusion, Verdict } from '../verdict.ts';
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

/** The judge model's grade, 0-20, with its reason. */
export type JudgeGrade = { points: number; reason: string };

/**
 * Scores a run that a model judged, 0-100 with one decimal: proven claims 30, answered questions 20, dismissals with proof 15, the judge model's grade 20,
 * economy 5, format 10. Criteria that do not apply are left out and the others are scaled. The score is null below 40 applicable points.
 */
export function scoreModelRun(stats: VerdictStats, grade?: JudgeGrade): RunScore {
  const criterion = (name: string, max: number, [part, whole]: [number, number], reason: string): ScoreCriterion => ({
    name,
    points: round((whole === 0 ? 0 : part / whole) * max),
    max,
    reason,
  });
  const { verdicts, facts, proven, questions, answered, dismissals, provenDismissals, toolCalls, wasted, repaired } =
    stats;
  if (verdicts === 0) return toRunScore(grade ? 'judge' : 'checked', []);
  const useful = toolCalls === 0 ? 1 : toolCalls - wasted;
  return toRunScore(grade ? 'judge' : 'checked', [
    criterion('claims', 30, [proven, facts], `${proven} of ${facts} facts are proven`),
    questions === 0
      ? undefined
      : criterion('questions', 20, [answered, questions], `${answered} of ${questions} questions have an observation`),
    dismissals === 0
      ? undefined
      : criterion(
          'dismissals',
          15,
          [provenDismissals, dismissals],
          `${provenDismissals} of ${dismissals} dismissals are proven`,
        ),
    grade && { name: 'judge', points: grade.points, max: 20, reason: grade.reason },
    criterion(
      'economy',
      5,
      [useful, Math.max(1, toolCalls)],
      `${wasted} of ${toolCalls} tool calls were refused or repeated`,
    ),
    criterion('format', 10, [verdicts - repaired, verdicts], `${repaired} of ${verdicts} verdicts needed a repair`),
  ]);
}
