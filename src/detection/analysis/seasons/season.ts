import { shrinkSpread, type Profile, compareDays } from './profile.ts';
import { findMedian, madFactor, stabilize, toLog, varianceOfMedian } from './robust-statistics.ts';

/** With fewer windows at the same hour, those an hour before and after count as well. */
const sameHourMin = 7;

/** The windows of an entity that are like one window: the same hour on days of the same kind. */
export type Season = {
  /** The numbers in these windows. */
  samples: Float64Array;
  /** The share of these windows in which the entity was active. */
  activeShare: number;
  /** The median logarithm of the numbers other than 0, with their count and relative spread. NaN without any. */
  center: number;
  active: number;
  spread: number;
  days: number;
};

/** An entity with its seasons. `spread` is the relative spread over all of them. */
export type SeasonalProfile = {
  profile: Profile;
  spread: number;
  kinds: DayKinds;
  /** Returns the season of a cell of the calendar. */
  seasonOf: (cell: number) => Season;
};

export function createSeasons(
  profile: Profile,
  { spread, typicalSpread, kinds }: { spread: number; typicalSpread: number; kinds: DayKinds },
): SeasonalProfile {
  const { hours } = profile.calendar;
  const known = new Map<number, Season>();
  const listed = new Map<number, HourWindows>();
  const listOnce = (days: number, hour: number): HourWindows => {
    const key = days * hours + hour;
    const list = listed.get(key) ?? listWindows(profile, days, hour);
    listed.set(key, list);
    return list;
  };
  const seasonOf = (cell: number): Season => {
    const days = kinds[Math.floor(cell / hours)]!;
    const hour = cell % hours;
    const key = days * hours + hour;
    const season = known.get(key) ?? createSeason(listOnce, { spread, typicalSpread }, { days, hour, hours });
    known.set(key, season);
    return season;
  };
  return { profile, spread, kinds, seasonOf };
}

function createSeason(
  list: (days: number, hour: number) => HourWindows,
  spreads: { spread: number; typicalSpread: number },
  { days, hour, hours }: { days: number; hour: number; hours: number },
): Season {
  const same = list(days, hour);
  const neighbors = hours === 1 ? [] : [1, hours - 1].map((step) => list(days, (hour + step) % hours));
  const { numbers, logs } =
    same.numbers.length >= sameHourMin
      ? same
      : {
          numbers: [same, ...neighbors].flatMap((one) => one.numbers),
          logs: [same, ...neighbors].flatMap((one) => one.logs),
        };
  const center = findMedian(logs) ?? Number.NaN;
  // The neighboring hours tell about the spread as well, each around its own median.
  const residuals: number[] = [];
  for (const one of [same, ...neighbors]) addResiduals(residuals, one.logs);
  return {
    samples: Float64Array.from(numbers),
    activeShare: (logs.length + 0.5) / (numbers.length + 1),
    center,
    active: logs.length,
    spread: learnSeasonSpread(residuals, center, spreads),
    days,
  };
}

/** The numbers of the windows at an hour on some days, and the logarithms of those other than 0. */
type HourWindows = { numbers: number[]; logs: number[] };

function listWindows({ calendar, offsets, order, series, logs }: Profile, days: number, hour: number): HourWindows {
  const found: HourWindows = { numbers: [], logs: [] };
  for (let day = 0; day < calendar.days; day++) {
    if ((days & (1 << day)) === 0) continue;
    const cell = day * calendar.hours + hour;
    for (let at = offsets[cell]!; at < offsets[cell + 1]!; at++) {
      const index = order[at]!;
      found.numbers.push(series.numbers[index]!);
      if (series.numbers[index] !== 0) found.logs.push(logs[index]!);
    }
  }
  return found;
}

/** Adds the distances to the median, corrected for the fact that it follows them. */
function addResiduals(residuals: number[], logs: readonly number[]): void {
  if (logs.length < 3) return;
  const median = findMedian(logs)!;
  const correction = Math.sqrt(logs.length / (logs.length - 1));
  for (const log of logs) residuals.push(Math.abs(log - median) * correction);
}

function learnSeasonSpread(
  residuals: readonly number[],
  center: number,
  { spread, typicalSpread }: { spread: number; typicalSpread: number },
): number {
  const deviation = findMedian(residuals);
  if (deviation === undefined) return spread;
  const variance = (madFactor * deviation) ** 2 - Math.exp(-center);
  const own = Math.max(Math.sqrt(Math.max(variance, 0)), typicalSpread / 2);
  return Math.max(shrinkSpread({ value: own, pairs: residuals.length }, spread), typicalSpread / 2);
}

/** The values that a number is compared with: a center as a logarithm, a relative spread, and the number of windows behind them. */
export type Expectation = { center: number; spread: number; active: number; activeShare: number };

/**
 * Returns a function that computes how surprising a number is, as the z of a normal variable. An entity that is seldom active surprises by being
 * active, and further by the size of its number compared with the active windows.
 */
function createSurprise({ center, spread, active, activeShare }: Expectation): (x: number) => number {
  const usual = stabilize(Number.isNaN(center) ? 0 : Math.exp(center) - 0.5, spread);
  const scale = Math.sqrt(1 + varianceOfMedian(active));
  // P(active) · P(as large | active), where the latter falls like exp(−z²/2).
  const presence = activeShare > 0.5 ? undefined : -2 * Math.log(2 * activeShare);
  return (x) => {
    if (x <= 0) return 0;
    const size = (stabilize(x, spread) - usual) / scale;
    return presence === undefined ? size : Math.sqrt(Math.max(size, 0) ** 2 + presence);
  };
}

/** Returns the logarithm of what is expected, that of 0 if the entity was never active. */
export const centerOf = ({ center }: Expectation): number => (Number.isNaN(center) ? toLog(0) : center);

export const computeSurprise = (x: number, expectation: Expectation): number => createSurprise(expectation)(x);

/** Returns what all windows of an entity together let expect. */
export function expectAsAlways({ profile, spread }: SeasonalProfile): Expectation {
  const { active, level, series } = profile;
  const windows = series.numbers.length;
  return { center: level, spread, active: active || windows, activeShare: (active + 0.5) / (windows + 1) };
}

/** Returns the season as an expectation. If the entity was never active in it, its numbers at other times tell their size. */
export function toExpectation(season: Season, seasonal: SeasonalProfile): Expectation {
  const { profile } = seasonal;
  if (season.active > 0) return season;
  if (profile.active === 0) return expectAsAlways(seasonal);
  return { ...season, center: profile.level, active: profile.active };
}

/** Returns the surprise of every past window of an entity, NaN where it was not active. */
export function computePastSurprises(seasonal: SeasonalProfile): Float64Array {
  const { profile } = seasonal;
  const { numbers, first } = profile.series;
  const surpriseOf: (((x: number) => number) | undefined)[] = [];
  const surprises = new Float64Array(numbers.length);
  for (let index = 0; index < numbers.length; index++) {
    const cell = profile.calendar.cells[first + index]!;
    const compute = (surpriseOf[cell] ??= createSurprise(toExpectation(seasonal.seasonOf(cell), seasonal)));
    surprises[index] = numbers[index] === 0 ? Number.NaN : compute(numbers[index]!);
  }
  return surprises;
}

/** Weeks of history below which an entity's own days are not compared. */
const weeksMin = 2;
/** Weeks of history from which only the entity's own days are compared, not those of all entities. */
const ownWeeksMin = 4;

/** The days of the week that are alike for an entity: for each day, a bit mask of the days like it, including itself. */
type DayKinds = readonly number[];

/** Returns a function that learns which days of an entity are alike, from the entity itself and from all entities. It makes no assumption about weekends. */
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
      // A single unusual day, such as a holiday, does not make its weekday different.
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
