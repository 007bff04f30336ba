import fc from 'fast-check';
import { expect, test } from 'vitest';
import { scoreAnalystRun, type AnalystScoreInput } from './analyst-score.ts';

const candidate = (rows: number, enoughPast?: boolean) => ({
  facts: { candidateRows: rows, ...(enoughPast === undefined ? {} : { enoughPast }) },
});
const base: AnalystScoreInput = {
  rowsTotal: 100,
  truncated: false,
  namedShare: 1,
  warnings: 0,
  usesHistory: true,
  learning: false,
  candidates: [candidate(2, true)],
  reviewed: { total: 0, right: 0 },
};

/** The change for a category without history, in which each of `count` candidates has this many rows. */
const withoutHistory = (count: number, rows: number): Partial<AnalystScoreInput> => ({
  usesHistory: false,
  candidates: Array.from({ length: count }, () => candidate(rows)),
});
const halfEnough = [candidate(1, true), candidate(1, false)];

test.each<[string, Partial<AnalystScoreInput>, number | null, Record<string, number>]>([
  ['full points', {}, 100, { input: 40, history: 30, selectivity: 30 }],
  ['no rows, no score', { rowsTotal: 0, candidates: [] }, null, {}],
  ['truncated rows', { truncated: true }, 84, { input: 24, history: 30, selectivity: 30 }],
  ['half of the entities from no named field', { namedShare: 0.5 }, 94, { input: 34, history: 30, selectivity: 30 }],
  ['warnings', { warnings: 2 }, 88, { input: 28, history: 30, selectivity: 30 }],
  ['no history: 70 points scaled', { usesHistory: false, warnings: 1 }, 82.9, { input: 28, selectivity: 30 }],
  ['no candidates to compare with history', { candidates: [] }, 100, { input: 40, selectivity: 30 }],
  ['history for one of two candidates', { candidates: halfEnough }, 85, { input: 40, history: 15, selectivity: 30 }],
  ['learning', { learning: true, candidates: [] }, 57.1, { input: 40, history: 0 }],
  ['candidates from every row', withoutHistory(10, 10), 57.1, { input: 40, selectivity: 0 }],
  ['three candidates from every row', withoutHistory(3, 33), 100, { input: 40, selectivity: 30 }],
  ['four from 1% of the rows', { ...withoutHistory(4, 1), rowsTotal: 400 }, 100, { input: 40, selectivity: 30 }],
  ['candidates from half of the rows', withoutHistory(5, 10), 78.9, { input: 40, selectivity: 15.2 }],
  [
    'ten reviewed hits',
    { usesHistory: false, reviewed: { total: 10, right: 4 } },
    74.3,
    { input: 40, selectivity: 12 },
  ],
  ['nine reviewed hits', { usesHistory: false, reviewed: { total: 9, right: 0 } }, 100, { input: 40, selectivity: 30 }],
])('scores %s', (_name, change, score, points) => {
  const result = scoreAnalystRun({ ...base, ...change });
  expect({
    score: result.score,
    points: Object.fromEntries(result.criteria.map(({ name, points: value }) => [name, value])),
  }).toEqual({ score, points });
  expect(result.basis).toBe('analyst');
});

test('keeps the score within 0 to 100 and each criterion within its maximum', () => {
  const input = fc.record({
    rowsTotal: fc.nat(1_000),
    truncated: fc.boolean(),
    namedShare: fc.double({ min: 0, max: 1, noNaN: true }),
    warnings: fc.nat(5),
    usesHistory: fc.boolean(),
    learning: fc.boolean(),
    candidates: fc.array(
      fc.tuple(fc.nat(2_000), fc.boolean()).map(([rows, enough]) => candidate(rows, enough)),
      { maxLength: 20 },
    ),
    reviewed: fc.nat(30).chain((total) => fc.record({ total: fc.constant(total), right: fc.nat(total) })),
  });
  fc.assert(
    fc.property(input, (example) => {
      const { score, criteria } = scoreAnalystRun(example);
      expect(score === null).toBe(example.rowsTotal === 0);
      if (score !== null) expect(score).toBeGreaterThanOrEqual(0);
      if (score !== null) expect(score).toBeLessThanOrEqual(100);
      for (const { points, max, reason } of criteria)
        expect([points >= 0 && points <= max, reason !== '']).toEqual([true, true]);
    }),
  );
});
