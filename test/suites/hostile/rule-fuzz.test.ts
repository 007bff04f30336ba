import { expect, test } from 'vitest';
import { fuzzRules } from '../../../fuzz/fuzz-rules.ts';

test('rules match as a set and as queries what a plain evaluator matches', async () => {
  const report = await fuzzRules({ pairs: 14_400, seed: 11 });
  expect(report.deviations).toEqual([]);
  // The figure shows that the conditions are neither all true nor all false.
  expect(report.matches / report.pairs).toBeGreaterThan(0.1);
  expect(report.matches / report.pairs).toBeLessThan(0.9);
});
