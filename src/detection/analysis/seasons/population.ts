import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import type { AnalysisDefinition, AnalysisWindow } from '../analysis-definition.ts';
import { chooseEntities, type RecalledMemory } from '../memory/memory.ts';
import {
  buildSeries,
  type Calendar,
  createCalendar,
  createProfile,
  findTypicalSpread,
  shrinkSpread,
} from './profile.ts';
import { findMedian, madFactor, medianOfSorted, varianceOfMedian } from './robust-statistics.ts';
import {
  createDayKinds,
  createSeasons,
  type Expectation,
  type Season,
  type SeasonalProfile,
  toExpectation,
} from './season.ts';

/** The entities that a window recalled, as far as they have a past. */
export type Population = {
  calendar: Calendar;
  /** A sample of at most 300 entities, from which the usual values of all entities are learned. */
  members: ReadonlyMap<string, SeasonalProfile>;
  /** Returns the seasons of an entity, or undefined if it was never seen. */
  find: (entity: string) => SeasonalProfile | undefined;
};

/** Learns the weekly pattern of the recalled entities: which days are alike, the usual number of each hour, and the spread of the numbers. */
export function* createPopulation(
  past: RecalledMemory,
  window: AnalysisWindow,
  { slotMs }: Pick<AnalysisDefinition, 'slotMs'>,
): Steps<Population> {
  const calendar = createCalendar(past.windows, slotMs || window.to.getTime() - window.from.getTime());
  const createOwn = (entity: string) => {
    const series = buildSeries(calendar, past.samples.get(entity));
    return series && createProfile(calendar, series);
  };
  const chosen = yield* mapInSteps(chooseEntities(past.samples.keys()), (entity) => ({
    entity,
    profile: createOwn(entity),
  }));
  const profiles = chosen.flatMap(({ entity, profile }) => (profile ? [{ entity, profile }] : []));
  const typicalSpread = findTypicalSpread(profiles.map(({ profile }) => profile));
  const spreadOf = ({ ownSpread }: (typeof profiles)[number]['profile']): number =>
    shrinkSpread(ownSpread, typicalSpread);
  const kindsOf = createDayKinds(profiles.map(({ profile }) => ({ profile, spread: spreadOf(profile) })));
  const toSeasonal = (profile: (typeof profiles)[number]['profile']): SeasonalProfile => {
    const spread = spreadOf(profile);
    return createSeasons(profile, { spread, typicalSpread, kinds: kindsOf(profile, spread) });
  };
  const members = new Map(yield* mapInSteps(profiles, ({ entity, profile }) => [entity, toSeasonal(profile)] as const));
  const others = new Map<string, SeasonalProfile | undefined>();
  const find = (entity: string): SeasonalProfile | undefined => {
    if (members.has(entity)) return members.get(entity);
    if (!others.has(entity)) {
      const profile = createOwn(entity);
      others.set(entity, profile && toSeasonal(profile));
    }
    return others.get(entity);
  };
  return { calendar, members, find };
}

/** With fewer windows of its season, an entity is compared with what its peers predict, and with all of its windows. */
export const seasonMin = 4;

/** With so many windows of its season, an entity needs no peers. */
const ownSeasonMin = 7;

const peersMin = 5;
/** The percentile 90 of a normal variable. */
const upperQuantile = 1.2816;
/** Entities with fewer active windows tell nothing about the shape of a week. */
const activeMin = 48;

/** How much more the peers have in a season than on the whole, as a logarithm, and how much they differ in that. */
type Shape = { center: number; spread: number };

/** Returns a function that learns the shape of a season from peers. It returns undefined if fewer than five have been active in it. */
export function createPeerShape(peers: readonly SeasonalProfile[]): (cell: number) => Shape | undefined {
  const settled = peers.filter(({ profile: { active, calendar } }) => active >= Math.min(activeMin, 2 * calendar.days * calendar.hours)); // prettier-ignore
  const known = new Map<number, Shape | undefined>();
  return (cell) => {
    if (known.has(cell)) return known.get(cell);
    const differences = settled
      .map(({ profile, seasonOf }) => seasonOf(cell).center - profile.level)
      .filter((difference) => !Number.isNaN(difference));
    const shape = differences.length < peersMin ? undefined : describeShape(differences);
    known.set(cell, shape);
    return shape;
  };
}

function describeShape(differences: readonly number[]): Shape {
  const sorted = Float64Array.from(differences).toSorted();
  const center = medianOfSorted(sorted);
  const deviation = madFactor * findMedian(sorted.map((one) => Math.abs(one - center)))!;
  // Some peers may already be at work. A new entity can be one of them.
  const reach = (sorted[Math.ceil(0.9 * sorted.length) - 1]! - center) / upperQuantile;
  return { center, spread: Math.max(deviation, reach) };
}

/**
 * Combines what an entity did in a season with what its level and the shape of its peers' weeks predict, each by its precision. A young entity has
 * nothing but the prediction.
 */
export function blendWithPeers(
  season: Season,
  seasonal: SeasonalProfile,
  { cell, shapeOf }: { cell: number; shapeOf: (cell: number) => Shape | undefined },
): Expectation {
  const { profile, spread } = seasonal;
  const shape = shapeOf(cell);
  if (!shape || profile.active === 0 || season.samples.length >= ownSeasonMin) return toExpectation(season, seasonal);
  const predicted = predict(profile, shape, shapeOf);
  const shapeVariance = shape.spread ** 2 + spread ** 2 * varianceOfMedian(profile.active);
  // The hours before and after, of which a young season consists, can be of another kind.
  if (season.active === 0 || season.samples.length < seasonMin)
    return {
      ...season,
      center: predicted,
      spread: Math.hypot(spread, Math.sqrt(shapeVariance)),
      active: profile.active,
    };
  const ownVariance = season.spread ** 2 * varianceOfMedian(season.active);
  const share = shapeVariance / (shapeVariance + ownVariance);
  return {
    ...season,
    center: share * season.center + (1 - share) * predicted,
    // The variance of the center that remains is at most that of the entity's own.
    active: Math.max(season.active, 1) / Math.max(share, 0.1),
  };
}

function predict(
  { series, calendar, logs }: SeasonalProfile['profile'],
  shape: Shape,
  shapeOf: (cell: number) => Shape | undefined,
): number {
  const levels: number[] = [];
  for (const [index, log] of logs.entries()) {
    if (series.numbers[index] === 0) continue;
    const at = shapeOf(calendar.cells[series.first + index]!);
    if (at) levels.push(log - at.center);
  }
  return (findMedian(levels) ?? Number.NaN) + shape.center;
}
