import { dayMs } from '../analysis-definition.ts';
import { lowerBound, toLog, varianceOfMedian } from './robust-statistics.ts';
import { centerOf, toExpectation, type SeasonalProfile } from './season.ts';

/** Periods of recurring jobs, in days. Months are a period of their own. */
const periods = [7, 14, 28, 35];
const repeatsMax = 4;

/** With what period an increase recurs. */
export type Recurrence = { every: string; times: number; of: number };

/**
 * Returns whether the entity had at least half as strong an increase (as a logarithm) at most of the earlier times one, two, four or five weeks or
 * a month apart, plus or minus an hour, so that it looks like a recurring job.
 */
export function findRecurrence(seasonal: SeasonalProfile, at: Date, increase: number): Recurrence | undefined {
  const excessAt = createExcessLookup(seasonal);
  const series = [
    ...periods.map((days) => ({
      every: days % 7 === 0 && days > 7 ? `${days / 7} weeks` : 'week',
      times: Array.from({ length: repeatsMax }, (_, n) => at.getTime() - (n + 1) * days * dayMs),
    })),
    { every: 'month', times: listSameDays(at) },
  ];
  for (const { every, times } of series) {
    const known = times.map(excessAt).filter((excess) => excess !== undefined);
    const strong = known.filter((excess) => excess >= increase / 2).length;
    if (strong > 0 && strong >= known.length / 2) return { every, times: strong, of: known.length };
  }
  return undefined;
}

/** Returns the same day and time of the two months before. The last day of a month corresponds to the last day of the others. */
function listSameDays(at: Date): number[] {
  const next = new Date(at.getTime() + dayMs);
  const isLast = next.getUTCMonth() !== at.getUTCMonth();
  return [1, 2].flatMap((months) => {
    const first = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months, 1);
    const end = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - months + 1, 1);
    const time = at.getTime() % dayMs;
    if (isLast) return [end - dayMs + time];
    const same = first + (at.getUTCDate() - 1) * dayMs + time;
    return same < end ? [same] : [];
  });
}

/** Returns a lookup of the largest increase within an hour of a time, or undefined if the time is not in the history. */
function createExcessLookup(seasonal: SeasonalProfile): (at: number) => number | undefined {
  const { calendar, series } = seasonal.profile;
  const { starts, slotMs, cells } = calendar;
  const reach = slotMs < dayMs ? Math.max(3_600_000, slotMs) : 0;
  return (at) => {
    let index = lowerBound(starts, at - reach);
    if (index < series.first && at < starts[series.first]!) return undefined;
    let excess: number | undefined;
    for (index = Math.max(index, series.first); index < starts.length && starts[index]! <= at + reach; index++) {
      const usual = centerOf(toExpectation(seasonal.seasonOf(cells[index]!), seasonal));
      excess = Math.max(excess ?? -Infinity, toLog(series.numbers[index - series.first]!) - usual);
    }
    return excess;
  };
}

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
