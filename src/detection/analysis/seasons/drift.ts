import { dayMs } from '../analysis-definition.ts';
import { varianceOfMedian } from './robust-statistics.ts';

const windowsMax = 7;
/** Every window of a drift is moderately high. */
const surpriseMin = 1;

/** Consecutive windows of an entity that are all moderately high, this one included. `surprise` is that of all together. */
export type Drift = { windows: number; surprise: number };

/**
 * Returns the most surprising run of two to seven windows that ends now, or undefined without one. Only windows of a day or more are added up: what
 * happens within a day is not independent. `correlation` is that of consecutive surprises, by which a run tells less.
 */
export function findDrift(
  now: { surprise: number; samples: number },
  past: Float64Array,
  { slotMs, correlation }: { slotMs: number; correlation: number },
): Drift | undefined {
  if (slotMs < dayMs || now.surprise < surpriseMin) return undefined;
  const error = varianceOfMedian(now.samples);
  let sum = now.surprise;
  let best: Drift | undefined;
  for (let windows = 2; windows <= Math.min(windowsMax, past.length + 1); windows++) {
    const surprise = past.at(1 - windows)!;
    if (!(surprise >= surpriseMin)) break;
    sum += surprise;
    // All are compared with the same center, whose error does not cancel out.
    const inflation = (1 + correlation) / (1 - correlation);
    const together = (sum * Math.sqrt(1 + error)) / Math.sqrt(windows * inflation + windows ** 2 * error);
    if (!best || together > best.surprise) best = { windows, surprise: together };
  }
  return best;
}
