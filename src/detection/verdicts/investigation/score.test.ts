import { expect, test } from 'vitest';
import { caseOf, good, medium } from '../../../../test/support/detection/verdict-examples.ts';
import { checkClaims, checkHeadline } from '../claims/check-claims.ts';
import { decideVerdict } from '../claims/decide-verdict.ts';
import type { Submission } from '../verdict.ts';
import type { InvestigationTrace } from './investigate.ts';
import { observationOf } from '../../../../test/support/detection/verdict-examples.ts';
import { addStats, countInvestigation, emptyVerdictStats, scoreModelRun } from './score.ts';

const perfect = { ...emptyVerdictStats, verdicts: 4, facts: 8, proven: 8 };
const trace: InvestigationTrace = {
  questions: [],
  hasTools: true,
  isRepaired: false,
  toolCalls: 0,
  wasted: 0,
  submitted: 'raise',
};
const observed = observationOf('o1', { user: 'mallory', ip: '192.0.2.7' });

/** Scores a run of one verdict, as a run does. */
function scoreOf(submission: Submission, fields: Partial<InvestigationTrace>) {
  const file = caseOf(medium, { observations: [observed] });
  const checks = checkClaims(submission.claims, file);
  const { verdict } = decideVerdict(
    {
      submission,
      checks,
      headline: checkHeadline(submission.headline, checks, file, false),
      file,
      isVerifierOn: false,
      dismissConfidence: 70,
      isEstablished: () => false,
      fallback: { headline: 'h', summary: 's', nextStep: 'n', confidence: 60 },
    },
    submission.verdict,
  );
  const stats = countInvestigation({ verdict, trace: { ...trace, submitted: submission.verdict, ...fields } });
  return scoreModelRun(addStats(emptyVerdictStats, stats));
}

const pivoted: Submission = {
  ...good,
  claims: [
    ...good.claims,
    {
      text: 'mallory used 192.0.2.7 too.',
      kind: 'fact',
      cites: [
        { observation: 'o1', rowId: 'r1', field: 'user', value: 'mallory' },
        { observation: 'o1', rowId: 'r1', field: 'ip', value: '192.0.2.7' },
      ],
    },
  ],
};

test('rates an analyst that pivots with a tool over 90, and one that restates the rows below 70', () => {
  expect(scoreOf(pivoted, { toolCalls: 2 }).score).toBeGreaterThan(90);
  expect(scoreOf(good, {}).score).toBeLessThan(70);
  expect(scoreOf(good, { toolCalls: 2, wasted: 1 }).score).toBeLessThan(70);
});

test('counts the questions of a plan by their observations', () => {
  const questions = ['o1', null].map((observation) => ({ question: 'Who else?', data: 'sign-ins', observation }));
  expect(scoreOf(pivoted, { questions, toolCalls: 1 }).criteria).toContainEqual({
    name: 'questions',
    points: 10,
    max: 20,
    reason: '1 of 2 questions have an observation, so that the score is at most 84.5',
  });
});

test('leaves out criteria that do not apply and scales the others', () => {
  const score = scoreModelRun(perfect);
  expect(score).toMatchObject({ score: 100, basis: 'checked' });
  expect(score.criteria.map(({ name, max }) => [name, max])).toEqual([
    ['claims', 30],
    ['economy', 5],
    ['format', 10],
  ]);
});

test('takes points for what is unproven, unanswered, wasted, repaired, and dismissed without proof', () => {
  const stats = {
    ...perfect,
    verdicts: 2,
    proven: 4,
    questions: 4,
    answered: 1,
    dismissals: 2,
    provenDismissals: 1,
    toolCalls: 4,
    wasted: 2,
    repaired: 1,
  };
  const { criteria, score } = scoreModelRun(stats);
  expect(criteria.map(({ name, points, max }) => [name, points, max])).toEqual([
    ['claims', 15, 30],
    ['questions', 5, 20],
    ['dismissals', 7.5, 15],
    ['economy', 2.5, 5],
    ['format', 5, 10],
  ]);
  expect(score).toBe(43.8);
});

test('gives no points for claims where there are none', () => {
  const { criteria } = scoreModelRun({ ...perfect, facts: 0, proven: 0 });
  expect(criteria[0]).toMatchObject({ name: 'claims', points: 0 });
});

const gradesOf = (met: number, of: number) =>
  Array.from({ length: of }, (_, index) => ({
    criterion: `${index}`,
    gradedBy: 'judge' as const,
    isMet: index < met,
    reason: 'r',
  }));

test('returns no score without verdicts, and counts the acceptance criteria that are met', () => {
  expect(scoreModelRun(emptyVerdictStats).score).toBeNull();
  const { score, basis, criteria } = scoreModelRun(perfect, gradesOf(1, 2));
  expect({ score, basis }).toEqual({ score: 84.6, basis: 'judge' });
  expect(criteria).toContainEqual({
    name: 'acceptance',
    points: 10,
    max: 20,
    reason: '1 of 2 acceptance criteria are met',
  });
});

test('a run that answers no question stays below 70, whatever else it has', () => {
  const lazy = { ...perfect, questions: 4, dismissals: 4, provenDismissals: 4 };
  expect(scoreModelRun(lazy, gradesOf(3, 3))).toMatchObject({ score: 69 });
  expect(scoreModelRun({ ...lazy, answered: 2 }, gradesOf(3, 3))).toMatchObject({ score: 84.5 });
  expect(scoreModelRun({ ...lazy, answered: 4 }, gradesOf(3, 3))).toMatchObject({ score: 100 });
});
