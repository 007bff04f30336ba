import { expect, test } from 'vitest';
import { analyzeInTurn, definitionOf } from '../../../test/support/detection/analysis-examples.ts';
import { analyzeWindow, analyzeWindowInSlices, prepareWindow } from './analyze-window.ts';
import type { AnalysisDefinition } from './analysis-definition.ts';
import { createEmptyRecall } from './memory/memory.ts';

const from = new Date('2030-01-01T10:00:00Z');
const window = { from, to: new Date(from.getTime() + 3_600_000), aggregate: false };
const definition: AnalysisDefinition = {
  category: 'custom',
  query: 'q',
  entityField: 'user',
  timeField: null,
  connectionId: null,
  cadence: '0 * * * *',
  slotMs: 3_600_000,
};

test('finds the same candidates in slices, between which other work runs', async () => {
  const rows = Array.from({ length: 5_000 }, (_, n) => ({
    _id: `e${n}`,
    _time: from.toISOString(),
    user: `user${n}`,
    text: 'x'.repeat(150),
  }));
  const prepared = prepareWindow(rows, window, definition);
  let turns = 0;
  const timer = setInterval(() => (turns += 1), 0);
  const result = await analyzeWindowInSlices(prepared, createEmptyRecall());
  clearInterval(timer);
  expect(turns).toBeGreaterThan(1);
  expect(result.candidates).toHaveLength(rows.length);
  expect(result).toEqual(analyzeWindow(prepared, createEmptyRecall()));
});

const many = (count: number) => Array.from({ length: 9 }, () => [{ user: 'ada', count: 10 }]).concat([[{ user: 'ada', count }]]); // prettier-ignore
const steps = (n: number) => [{ _id: `${n}`, _time: `2030-01-07T00:0${n}:00Z`, user: 'ada', step: n, steps: 2 }];
const seen = (action: string) => [{ _id: action, user: 'ada', action }];
test.each([
  ['custom', [seen('read')], { minimumCount: 2 }, {}],
  ['first_occurrence', [...Array.from({ length: 9 }, () => seen('read')), seen('new')], { minimumCount: 2 }, {}],
  ['baseline_anomaly', many(1000), { minimumCount: 2000 }, { isAggregate: true }],
  ['baseline_anomaly', many(1000), { minimumIncrease: 2000 }, { isAggregate: true }],
  ['sequence_pattern', [[...steps(1), ...steps(2)]], { minimumCount: 2 }, {}],
] as const)(
  '%s: counts the candidates that a minimum leaves out',
  (category, windows, tuning, { isAggregate = false }: { isAggregate?: boolean }) => {
    const found = analyzeInTurn(windows, definitionOf(category), isAggregate);
    expect(found).toMatchObject({ candidates: [{ entity: 'ada' }], dropped: { belowMinimum: 0 } });
    const tuned = analyzeInTurn(windows, definitionOf(category, { tuning }), isAggregate);
    expect(tuned).toMatchObject({ candidates: [], dropped: { belowMinimum: 1, workingHours: 0 } });
  },
);
