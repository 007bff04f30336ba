import { expect, test } from 'vitest';
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
