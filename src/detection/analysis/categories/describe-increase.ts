import type { Facts } from '../candidate.ts';
import type { IncreaseRating } from './rate-increase.ts';

const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

/** Returns the facts that show what an increase was compared with. `days` is the bit mask of the days of the week that were. */
export function describeIncrease(rating: IncreaseRating, days: number | null): Facts {
  const { seasonZ, seasonZMin, drift, peersRaised, recurrence, lowBecause } = rating;
  return {
    seasonZ: round(seasonZ),
    ...(seasonZMin === -Infinity ? {} : { seasonZMin: round(seasonZMin) }),
    ...(days === null ? {} : { comparedDays: dayNames.filter((_, day) => (days & (1 << day)) !== 0) }),
    largestBefore: rating.largestBefore,
    similarBefore: rating.similarBefore,
    asLargeBefore: rating.asLargeBefore,
    ...(peersRaised === null ? {} : { peersRaised: round(peersRaised) }),
    ...(drift ? { driftWindows: drift.windows, driftZ: round(drift.surprise) } : {}),
    ...(recurrence ? { recursEvery: recurrence.every, recurred: recurrence.times } : {}),
    ...(lowBecause ? { lowBecause } : {}),
  };
}

const round = (number: number): number => Math.round(number * 100) / 100;
