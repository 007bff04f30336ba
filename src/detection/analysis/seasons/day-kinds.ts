import { compareDays, type Profile } from './profile.ts';
import { findMedian } from './robust-statistics.ts';

/** Before, the days of an entity say nothing. */
const weeksMin = 2;
/** From so many weeks on, an entity's own days decide alone. */
const ownWeeksMin = 4;

/** Which days of the week are alike for an entity: for each day, a bit mask of the days that are like it, itself included. */
export type DayKinds = readonly number[];

/** Returns a function that learns from all entities, and from the entity itself, which of its days are alike. Nothing is assumed about weekends. */
export function createDayKinds(
  profiles: readonly { profile: Profile; spread: number }[],
): (profile: Profile, spread: number) => DayKinds {
  const areAlikeForMost = memoizePairs((pair) => {
    const differences = profiles.flatMap(({ profile, spread }) => compareDays(profile, spread, pair) ?? []);
    const median = findMedian(differences.map(({ difference }) => difference));
    const compared = differences.reduce((sum, one) => sum + one.compared, 0);
    if (median !== undefined) return median <= differenceMax(compared);
    return findMedian(profiles.map(({ profile }) => (areAsActive(profile, pair) ? 1 : 0))) !== 0;
  });
  return (profile, spread) => {
    const { days } = profile.calendar;
    const areAlike = (pair: [number, number]): boolean => {
      const own = compareDays(profile, spread, pair);
      if (own === undefined) return areAsActive(profile, pair) && areAlikeForMost(pair);
      // A single odd day, such as a holiday, is no kind of day.
      if (own.samples < weeksMin && profiles.length > 1) return areAlikeForMost(pair);
      const isAlike = own.difference <= differenceMax(own.compared);
      return own.samples >= ownWeeksMin ? isAlike : isAlike && areAlikeForMost(pair);
    };
    const pairs = memoizePairs(areAlike);
    return Array.from({ length: days }, (_, day) => {
      let mask = 1 << day;
      for (let other = 0; other < days; other++)
        if (other !== day && pairs([Math.min(day, other), Math.max(day, other)])) mask |= 1 << other;
      return mask;
    });
  };
}

/** Returns the largest difference of two days that chance explains, at least one that matters. */
const differenceMax = (compared: number): number => Math.max(1.5, 1 + 3 * Math.sqrt(2 / compared));

/** Returns whether an entity is present about as often on both days. */
function areAsActive({ calendar: { hours }, cellCounts, cellSizes }: Profile, pair: [number, number]): boolean {
  const [one, other] = pair.map((day) => {
    const sum = (counts: Uint32Array): number =>
      counts.subarray(day * hours, (day + 1) * hours).reduce((total, count) => total + count, 0);
    const size = sum(cellSizes);
    return size === 0 ? undefined : sum(cellCounts) / size;
  });
  // A day that was never seen is like any other.
  if (one === undefined || other === undefined) return true;
  return Math.min(one, other) >= Math.max(one, other) / 2;
}

function memoizePairs(decide: (pair: [number, number]) => boolean): (pair: [number, number]) => boolean {
  const known = new Map<number, boolean>();
  return (pair) => {
    const key = pair[0] * 7 + pair[1];
    if (!known.has(key)) known.set(key, decide(pair));
    return known.get(key)!;
  };
}
