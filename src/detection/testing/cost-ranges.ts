import { callCostUsd, type ConfiguredModel } from '../../platform/models/models.ts';
import type { VerdictSpend } from './spend-history.store.ts';

/** What to expect, between what is exceeded and what is not in 95 % of months. */
export type Range = { low: number; expected: number; high: number };

export const rangeOf = (of: (bound: keyof Range) => number): Range => ({
  low: of('low'),
  expected: of('expected'),
  high: of('high'),
});

export const daysPerMonth = 30;

/**
 * Returns how many candidates a month of 30 days will have, by the counts of past days: a prediction interval of 95 % for the sum of 30 days of the same
 * kind. The variance is at least that of independent events (Poisson). Without any candidate, at most 3 are expected in as many days (rule of three).
 */
export function predictMonth(counts: readonly number[]): Range {
  const days = counts.length;
  const mean = counts.reduce((sum, count) => sum + count, 0) / days;
  if (mean === 0) return { low: 0, expected: 0, high: Math.ceil((3 / days) * daysPerMonth) };
  const spread = counts.reduce((sum, count) => sum + (count - mean) ** 2, 0) / Math.max(1, days - 1);
  const margin = 1.96 * Math.sqrt(daysPerMonth * Math.max(spread, mean) * (1 + daysPerMonth / days));
  const expected = mean * daysPerMonth;
  return {
    low: Math.max(0, Math.floor(expected - margin)),
    expected: Math.round(expected),
    high: Math.ceil(expected + margin),
  };
}

/** What one candidate costs with one alias. `costUsd` is null without a price. */
export type CandidateCost = { alias: string; calls: Range; tokens: Range; costUsd: Range | null };

/**
 * Returns what a candidate costs by alias, by past verdicts. Usage is known by alias for detections as a whole, so that the cost of a verdict is divided in
 * the same shares. The range is a confidence interval of 95 % of the average, by the deviation between runs, or of factor 2 with a single run.
 */
export function measuredCosts({ verdicts, runs, deviation, tokens, calls, byAlias }: VerdictSpend): CandidateCost[] {
  const perVerdict = tokens / verdicts;
  const relative = deviation === null ? 1 : Math.min(1, (1.96 * deviation) / (perVerdict * Math.sqrt(runs)));
  const range = (expected: number): Range => ({
    low: expected / (1 + relative),
    expected,
    high: expected * (1 + relative),
  });
  const all = byAlias.reduce((sum, one) => ({ calls: sum.calls + one.calls, tokens: sum.tokens + one.tokens }), {
    calls: 0,
    tokens: 0,
  });
  return byAlias.map((used) => {
    const ownTokens = (perVerdict * used.tokens) / all.tokens;
    return {
      alias: used.alias,
      calls: range(((calls / verdicts) * used.calls) / all.calls),
      tokens: range(ownTokens),
      costUsd: used.costUsd === null ? null : range((ownTokens * used.costUsd) / used.tokens),
    };
  });
}

type Work = { calls: number; input: number; output: number };

/**
 * What a candidate costs where nothing was measured, in calls and tokens: an investigation of 1, 5 and 20 steps with 20 rows per result, the verification
 * of 2, 3 and 6 facts and the headline, and the grading of a run with 1, 2 and 20 cases. Measured by `npm run quality -- cost`, which shows figures that differ.
 */
export const typicalWork: Record<'investigation' | 'verification' | 'grading', Record<keyof Range, Work>> = {
  investigation: {
    low: { calls: 1, input: 1_650, output: 180 },
    expected: { calls: 5, input: 33_000, output: 300 },
    high: { calls: 20, input: 494_000, output: 690 },
  },
  verification: {
    low: { calls: 3, input: 970, output: 69 },
    expected: { calls: 4, input: 1_310, output: 92 },
    high: { calls: 7, input: 2_340, output: 161 },
  },
  grading: {
    low: { calls: 1, input: 870, output: 25 },
    expected: { calls: 1, input: 1_400, output: 25 },
    high: { calls: 1, input: 11_000, output: 25 },
  },
};

/** The share of the input of an investigation of five steps that providers with a cache read from it, as measured in `prompt-cache.test.ts`. */
const cachedShare = 0.7;

/** Returns what a part of the work on a candidate costs with a model, by the typical figures. */
export function typicalCost(part: keyof typeof typicalWork, model: ConfiguredModel): CandidateCost {
  const work = typicalWork[part];
  const costOf = (bound: keyof Range): number | null => {
    const { calls, input, output } = work[bound];
    const isCached = part === 'investigation' && calls > 1 && model.entry.price?.cachedInputPerMillion !== undefined;
    return callCostUsd(model, { input, output, ...(isCached ? { cached: cachedShare * input } : {}) });
  };
  return {
    alias: model.alias,
    calls: rangeOf((bound) => work[bound].calls),
    tokens: rangeOf((bound) => work[bound].input + work[bound].output),
    costUsd: model.entry.price ? rangeOf((bound) => costOf(bound) ?? 0) : null,
  };
}
