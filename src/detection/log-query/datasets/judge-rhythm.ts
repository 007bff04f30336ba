export const hourMs = 3_600_000;
/** The hours that a judgment needs: the longest span of the last day and of each of the two weeks before. */
export const rhythmHours = 15 * 24 + 24;

const spansHours = [1, 2, 4, 8, 24];
const referencesMin = 7;
const referencesMax = 14;
const silentMeanMin = 10;
const reducedMinimum = 100;
const reducedShare = 0.5;

/** `events` arrived in the last `hours` hours. At least `expected` arrived in the same hours of every earlier day. */
export type Shortfall = { hours: number; events: number; expected: number };

/**
 * Compares the last hours of a dataset with the same hours of each of the last 7 to 14 days, the shortest span first. Returns a shortfall if it
 * received nothing although it always did, or less than half of its minimum. A dataset younger than a week and one with few events have no
 * rhythm to compare with. `eventsByHour` has the hours since 1970 as keys; `firstHour` is the dataset's first, and `hour` the last complete one.
 */
export function findShortfall(
  eventsByHour: ReadonlyMap<number, number>,
  { firstHour, hour }: { firstHour: number; hour: number },
): Shortfall | undefined {
  for (const hours of spansHours) {
    const references = listReferences(eventsByHour, { firstHour, hour, hours });
    if (references.length < referencesMin) return undefined;
    const expected = Math.min(...references);
    const events = sumHours(eventsByHour, hour, hours);
    const mean = references.reduce((sum, count) => sum + count, 0) / references.length;
    const isSilent = events === 0 && expected > 0 && mean >= silentMeanMin;
    const isReduced = expected >= reducedMinimum && events < expected * reducedShare;
    if (isSilent || isReduced) return { hours, events, expected };
  }
  return undefined;
}

/** Returns whether a dataset receives again at least half of what it should, in a span as long as that of its shortfall. */
export const hasRecovered = (
  eventsByHour: ReadonlyMap<number, number>,
  hour: number,
  { hours, expected }: Shortfall,
): boolean => sumHours(eventsByHour, hour, hours) >= Math.max(1, expected * reducedShare);

function listReferences(
  eventsByHour: ReadonlyMap<number, number>,
  { firstHour, hour, hours }: { firstHour: number; hour: number; hours: number },
): number[] {
  const references: number[] = [];
  for (let day = 1; day <= referencesMax; day += 1) {
    const end = hour - day * 24;
    // The dataset's first hour is rarely a whole one.
    if (end - hours < firstHour) break;
    references.push(sumHours(eventsByHour, end, hours));
  }
  return references;
}

function sumHours(eventsByHour: ReadonlyMap<number, number>, last: number, hours: number): number {
  let sum = 0;
  for (let hour = last - hours + 1; hour <= last; hour += 1) sum += eventsByHour.get(hour) ?? 0;
  return sum;
}
