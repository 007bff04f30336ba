import type { PastMemory, PastWindow } from './memory.ts';

const samplesMin = 7;

/** An entity's own past: what its number is compared with, and since when it is known. */
export type OwnPast = { samples: Float64Array; sameHour: boolean; firstSeen: number };

/**
 * Looks up entities' own pasts for a window that begins at `from`: the windows of the same hour (one more or less) on the same kind of
 * day, if there are seven, else all. From its first sight on an entity counts 0 in windows without it; never seen: undefined.
 */
export function pastSamples(past: PastMemory, from: Date): (entity: string) => OwnPast | undefined {
  const starts = past.windows.map((window) => window.from.getTime());
  const alike = past.windows.map((window) => isAlike(window, from));
  return (entity) => {
    const seen = past.samples.get(entity);
    if (!seen || seen.length === 0) return undefined;
    const numbers = new Map(seen.map(({ at, number }) => [at, number]));
    const firstSeen = Math.min(...numbers.keys());
    const first = starts.findIndex((start) => start >= firstSeen);
    const all = starts.slice(first).map((start) => numbers.get(start) ?? 0);
    const same = all.filter((_, index) => alike[first + index]);
    const sameHour = same.length >= samplesMin;
    return { samples: Float64Array.from(sameHour ? same : all), sameHour, firstSeen };
  };
}

/** UTC hours at most one apart around the clock, and both on a weekend or both not. */
function isAlike(past: PastWindow, from: Date): boolean {
  const hours = Math.abs(past.from.getUTCHours() - from.getUTCHours());
  return Math.min(hours, 24 - hours) <= 1 && isWeekend(past.from) === isWeekend(from);
}

function isWeekend(date: Date): boolean {
  return date.getUTCDay() % 6 === 0;
}
