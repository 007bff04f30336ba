import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { findMedian, findNormalQuantile } from './robust-statistics.ts';
import { computePastSurprises, type SeasonalProfile } from './season.ts';

const ownTailMin = 100;
const correlationMax = 0.8;

/**
 * How surprising the past of an entity was, window by window, NaN where it was not active. The first `settled` windows ended long enough ago to
 * count as usual.
 */
export type Past = { seasonal: SeasonalProfile; surprises: Float64Array; settled: number; tail: Tail | undefined };
type Tail = { factor: number; windows: number };

export function createPast(seasonal: SeasonalProfile, settledEnd: number): Past {
  const { calendar, series } = seasonal.profile;
  const surprises = computePastSurprises(seasonal);
  let settled = 0;
  while (settled < surprises.length && calendar.starts[series.first + settled]! < settledEnd) settled += 1;
  return { seasonal, surprises, settled, tail: measureTail(surprises) };
}

/**
 * Measures how much further the surprises of an entity reach than those of a normal variable: at the percentile 99, or the largest one of fewer than
 * a hundred.
 */
function measureTail(surprises: Float64Array): Tail | undefined {
  let windows = 0;
  for (const surprise of surprises) if (!Number.isNaN(surprise)) windows += 1;
  if (windows < 8) return undefined;
  const above = Math.floor(windows / ownTailMin);
  const largest = new Float64Array(above + 1).fill(-Infinity);
  for (const surprise of surprises) {
    if (!(surprise > largest[above]!)) continue;
    let at = above;
    for (; at > 0 && largest[at - 1]! < surprise; at--) largest[at] = largest[at - 1]!;
    largest[at] = surprise;
  }
  const usual = findNormalQuantile(above === 0 ? 1 - 0.5 ** (1 / windows) : (above + 0.5) / windows);
  return { factor: largest[above]! / usual, windows };
}

/** The usual surprises of all entities. `correlation` is the correlation of an entity's surprises in consecutive windows. */
export type Calibration = { tailFactor: number; correlation: number };

/** Learns from the medians over entities, so that a few with an odd past change nothing. */
export function* calibrate(pasts: readonly Past[]): Steps<Calibration> {
  const correlations: number[] = [];
  for (const { surprises } of pasts) {
    yield;
    let product = 0;
    let square = 0;
    for (let index = 1; index < surprises.length; index++) {
      // Cut, so that a single window does not decide.
      const one = Math.max(-3, Math.min(3, surprises[index - 1]!));
      const other = Math.max(-3, Math.min(3, surprises[index]!));
      if (Number.isNaN(one * other)) continue;
      product += one * other;
      square += (one * one + other * other) / 2;
    }
    if (square > 0) correlations.push(product / square);
  }
  return {
    tailFactor: Math.max(findMedian(pasts.flatMap(({ tail }) => tail?.factor ?? [])) ?? 1, 1),
    correlation: Math.max(0, Math.min(findMedian(correlations) ?? 0, correlationMax)),
  };
}

/** Returns by how much the surprises of an entity are divided. Its own past counts only if it is long enough. */
export function findTailFactor({ tail }: Past, { tailFactor }: Calibration): number {
  return tail && tail.windows >= ownTailMin ? Math.max(tail.factor, tailFactor) : tailFactor;
}
