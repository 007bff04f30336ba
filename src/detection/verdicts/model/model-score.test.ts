import { expect, test } from 'vitest';
import { scoreModelRun, emptyVerdictStats } from './model-score.ts';

const perfect = { ...emptyVerdictStats, verdicts: 4, cited: 8 };

test('leaves out criteria that do not apply and scales the others', () => {
  const score = scoreModelRun(perfect, 4);
  expect(score).toMatchObject({ score: 100, basis: 'checked' });
  expect(score.criteria.map(({ name, max }) => [name, max])).toEqual([
    ['evidence', 40],
    ['coverage', 20],
    ['format', 10],
  ]);
});

test('subtracts points for struck claims, unjudged candidates, refused calls, repairs and followed instructions', () => {
  const stats = {
    ...perfect,
    verdicts: 2,
    struck: 4,
    repaired: 1,
    toolCalls: 4,
    toolFaults: 1,
    instructed: 2,
    followed: 2,
  };
  const { criteria, score } = scoreModelRun(stats, 4);
  expect(criteria.map(({ name, points }) => [name, points])).toEqual([
    ['evidence', 20],
    ['coverage', 10],
    ['tools', 15],
    ['format', 5],
    ['instructions', 0],
  ]);
  expect(score).toBe(50);
});

test('returns no score without verdicts, and uses the grade of a judge', () => {
  expect(scoreModelRun(emptyVerdictStats, 3).score).toBeNull();
  expect(scoreModelRun(perfect, 4, { points: 0, reason: 'unnecessary calls' })).toMatchObject({
    basis: 'judge',
    score: 77.8,
  });
});
