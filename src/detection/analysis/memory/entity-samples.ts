import type { RecalledMemory, MemoryWindow } from './memory.ts';

const samplesMin = 7;

/** An entity's past numbers and first appearance (epoch milliseconds). `sameHour`: the samples are from the same hour of day. */
export type EntitySamples = {
  samples: Float64Array;
  sameHour: boolean;
  firstSeen: number;
  /** Its numbers in all windows since then. `at` is the window's start. */
  all: { at: number; number: number }[];
};

/**
 * Returns a lookup of entities' samples for a window that begins at `from`: those of the same hour (plus or minus one) on the same kind of
 * day if there are at least seven, otherwise all. After its first appearance, an entity counts 0 in windows without it.
 * The lookup returns undefined for an entity that was never seen.
 */
export function createSampleLookup(past: RecalledMemory, from: Date): (entity: string) => EntitySamples | undefined {
  const starts = past.windows.map((window) => window.from.getTime());
  const isComparable = past.windows.map((window) => isSameTimeOfWeek(window, from));
  return (entity) => {
    const seen = past.samples.get(entity);
    if (!seen || seen.length === 0) return undefined;
    const numbers = new Map(seen.map(({ at, number }) => [at, number]));
    const firstSeen = Math.min(...numbers.keys());
    const first = starts.findIndex((start) => start >= firstSeen);
    const all = starts.slice(first).map((at) => ({ at, number: numbers.get(at) ?? 0 }));
    const same = all.filter((_, index) => isComparable[first + index]);
    const sameHour = same.length >= samplesMin;
    const samples = Float64Array.from(sameHour ? same : all, ({ number }) => number);
    return { samples, sameHour, firstSeen, all };
  };
}

/** Returns whether the UTC hours are at most one apart and both days are on a weekend, or neither is. */
function isSameTimeOfWeek(past: MemoryWindow, from: Date): boolean {
  const hours = Math.abs(past.from.getUTCHours() - from.getUTCHours());
  return Math.min(hours, 24 - hours) <= 1 && isWeekend(past.from) === isWeekend(from);
}

function isWeekend(date: Date): boolean {
  return date.getUTCDay() % 6 === 0;
}
