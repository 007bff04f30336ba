import { dayMs, weekMs } from '../analysis-definition.ts';
import { type AnalysisInput, peersMin as minimumOfPeers, sensitivityOf } from '../category.ts';
import { computeSettledEnd, type RecalledMemory } from '../memory/memory.ts';
import { findCell } from '../seasons/profile.ts';
import { findDrift, type Drift, findRecurrence, type Recurrence } from '../seasons/recurrence.ts';
import { calibrate, createPast, findTailFactor, type Past } from '../seasons/past-surprises.ts';
import { blendWithPeers, createPeerShape, type Population, seasonMin } from '../seasons/population.ts';
import { findNormalQuantile, toLog } from '../seasons/robust-statistics.ts';
import {
  centerOf,
  computeSurprise,
  expectAsAlways,
  toExpectation,
  type Expectation,
  type SeasonalProfile,
} from '../seasons/season.ts';
import type { Sensitivity } from '../tuning.schema.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import {
  countAsLarge,
  countSurprises,
  findLargest,
  findNearest,
  hadIncrease,
  isSettled,
  strengthOf,
  type Increase,
  recallLargest,
} from './increase-history.ts';

/** A running intrusion must not become its own baseline, so the latest days are left out if there are enough others. */
const unsettledMs = 2 * dayMs;
const driftSurpriseMin = 3.5;
/** A drift is the most surprising of several runs, so it must surprise more than a single window. */
const driftMargin = 0.5;

/** Why an increase is rated low: by chance one as surprising is to be expected, or it happens anyway. */
type LowReason = 'chance' | 'own history' | 'recurring' | 'peers now' | 'peers before';

/** How the peers of an entity compare with its increase. */
type PeerRating = {
  /** How many earlier numbers of the entity and its nearest peers were as surprising. */
  similarBefore: number;
  /** How many earlier numbers of the entity and all its peers were as surprising. */
  similarOfAll: number;
  /** How many of the nearest peers had one. */
  peersBefore: number;
  /** How many other entities, which have no usual size yet or are not in this window, had a number almost as large as an increase as strong. */
  asLargeBefore: number;
  /** The share of the others in this window with at least half the increase. Null if there are too few. */
  peersRaised: number | null;
};

/** How an increase compares with what is usual at such a time, for the entity and for its peers. */
export type IncreaseRating = PeerRating & {
  /** How surprising the number is for its own season, as the z of a normal variable, and from where on it is more than chance. */
  seasonZ: number;
  seasonZMin: number;
  /** Windows up to this one that are surprising together. */
  drift: Drift | undefined;
  /** The largest number of the entity before the last two days. Null for a new entity. */
  largestBefore: number | null;
  recurrence: Recurrence | undefined;
  /** The severity follows z if there is no reason against it. */
  lowBecause: LowReason | undefined;
  /** Such an increase is to be expected by chance, and happens so often that it is no candidate. */
  isUsual: boolean;
};

export type IncreaseContext = {
  population: Population;
  /** The numbers of all entities of the window. */
  numbers: ReadonlyMap<string, number>;
  groupOf: (entity: string) => string;
  /** Returns what to expect of a new entity, from the other entities of this window. */
  peersOf: (entity: string) => Expectation | undefined;
};

type IncreaseLimits = { chancePerWeek: number; ratioMin: number; usualPerWeek: number };
/**
 * An increase is rare if chance alone makes one as surprising at most `chancePerWeek` times a week in all entities, if it is `ratioMin` times the
 * largest earlier one of the entity, and if at most `usualPerWeek` peers a week were as surprising. One that is to be expected by chance, and as
 * surprising as more than `usualPerWeek` earlier ones a week, is no candidate.
 */
const increaseBySensitivity: Record<Sensitivity, IncreaseLimits> = {
  low: { chancePerWeek: 0.02, ratioMin: 2, usualPerWeek: 0.25 },
  medium: { chancePerWeek: 0.1, ratioMin: 1.5, usualPerWeek: 1 },
  high: { chancePerWeek: Infinity, ratioMin: 1, usualPerWeek: Infinity },
};

/** Returns a function that rates an increase of an entity. An increase that is usual for such entities at such a time is rated low. */
export function* createIncreaseRating(
  input: AnalysisInput & { past: RecalledMemory },
  context: IncreaseContext,
): Steps<(entity: string, number: number) => IncreaseRating> {
  const { window, past, definition } = input;
  const { calendar, members, find } = context.population;
  const settledEnd = computeSettledEnd(past, window, unsettledMs);
  const cell = findCell(calendar, window.from.getTime());
  const pasts = new Map(
    yield* mapInSteps(members, ([entity, seasonal]) => [entity, createPast(seasonal, settledEnd)] as const),
  );
  const calibration = yield* calibrate([...pasts.values()]);
  const shapeOf = createPeerShape([...members.values()]);
  const ratePeers = createPeerRating(context, { pasts, cell, largest: recallLargest(past, settledEnd) });
  const historyWeeks = (window.from.getTime() - (calendar.starts[0] ?? window.from.getTime())) / weekMs;
  const weeks = Math.max(historyWeeks, 1);
  const { chancePerWeek, ratioMin, usualPerWeek } = increaseBySensitivity[sensitivityOf(definition)];
  const peersMin = minimumOfPeers(definition);
  const seasonZMin = findSurpriseMin(chancePerWeek, (context.numbers.size * weekMs) / calendar.slotMs);
  return (entity, number) => {
    const seasonal = find(entity);
    const own = pasts.get(entity) ?? (seasonal && createPast(seasonal, settledEnd));
    const expectation = own ? expectNumber(own.seasonal, { number, cell, shapeOf }) : context.peersOf(entity);
    const tail = own ? findTailFactor(own, calibration) : calibration.tailFactor;
    const seasonZ = expectation ? computeSurprise(number, expectation) / tail : 0;
    const drift =
      own &&
      findDrift(
        { surprise: seasonZ, samples: expectation!.active },
        own.surprises.map((surprise) => surprise / tail),
        { slotMs: calendar.slotMs, correlation: calibration.correlation },
      );
    const increase: Increase = { number, usual: expectation ? centerOf(expectation) : toLog(0) };
    const peers = ratePeers(entity, own, { increase, surprise: seasonZ * tail });
    const recurrence = own && findRecurrence(own.seasonal, window.from, strengthOf(increase));
    // In a short history, the largest increase is soon exceeded.
    const ratio = historyWeeks < 1 ? 2 * ratioMin : ratioMin;
    const largestBefore = own ? findLargest(own) : null;
    // A number beyond every earlier one is judged without the correction for the usual reach of surprises.
    const isRecord = largestBefore !== null && number >= ratio * largestBefore && peers.similarOfAll === 0;
    const isSurprising =
      seasonZ >= seasonZMin || isDrift({ drift, seasonZMin }) || (isRecord && seasonZ * tail >= seasonZMin);
    const lowBecause = ((): LowReason | undefined => {
      if (!isSurprising) return 'chance';
      if (own && hadIncrease(own, increase, ratio)) return 'own history';
      if (recurrence) return 'recurring';
      if (peersMin === 0) return undefined;
      if (peers.peersRaised !== null && peers.peersRaised >= 0.5) return 'peers now';
      const isOften = peers.peersBefore >= peersMin && peers.peersBefore > usualPerWeek * weeks;
      return isOften || peers.asLargeBefore >= peersMin ? 'peers before' : undefined;
    })();
    return {
      ...peers,
      seasonZ,
      seasonZMin,
      drift,
      largestBefore,
      recurrence,
      lowBecause,
      isUsual: !isSurprising && peers.similarOfAll > usualPerWeek * weeks,
    };
  };
}

/** Returns what to expect of an entity. A season with few windows is filled up by the peers. With fewer still, the kindest comparison counts. */
function expectNumber(
  seasonal: SeasonalProfile,
  { number, ...at }: { number: number; cell: number; shapeOf: ReturnType<typeof createPeerShape> },
): Expectation {
  const season = seasonal.seasonOf(at.cell);
  const blended = blendWithPeers(season, seasonal, at);
  if (season.samples.length >= seasonMin) return blended;
  return [blended, expectAsAlways(seasonal), toExpectation(season, seasonal)].reduce((kindest, one) =>
    computeSurprise(number, one) < computeSurprise(number, kindest) ? one : kindest,
  );
}

type RatePeers = (entity: string, own: Past | undefined, now: { increase: Increase; surprise: number }) => PeerRating;

/** Returns a function that compares an increase with the others of the entity's peer group. */
function createPeerRating(
  { numbers, groupOf }: IncreaseContext,
  {
    pasts,
    cell,
    largest,
  }: { pasts: ReadonlyMap<string, Past>; cell: number; largest: Map<string, Map<string, number[]>> },
): RatePeers {
  const byGroup = Map.groupBy(pasts, ([entity]) => groupOf(entity));
  const strengths = new Map<string, number>();
  for (const [entity, { seasonal }] of pasts) {
    const number = numbers.get(entity);
    if (number === undefined) continue;
    const usual = centerOf(toExpectation(seasonal.seasonOf(cell), seasonal));
    strengths.set(entity, strengthOf({ number, usual }));
  }
  return (entity, own, { increase, surprise }) => {
    const peers = (byGroup.get(groupOf(entity)) ?? []).filter(([other]) => other !== entity);
    const ownCount = own ? countSurprises(own, surprise) : 0;
    const counts = new Map(peers.map(([, one]) => [one, countSurprises(one, surprise)]));
    const nearest = findNearest(own, [...counts.keys()]).map((one) => counts.get(one)!);
    const present = peers.flatMap(([other]) => strengths.get(other) ?? []);
    const raised = present.filter((strength) => strength >= strengthOf(increase) / 2);
    const others = [...(largest.get(groupOf(entity)) ?? [])].filter(
      ([other]) => other !== entity && !isSettled(pasts.get(other)),
    );
    return {
      similarBefore: nearest.reduce((sum, count) => sum + count, ownCount),
      similarOfAll: [...counts.values()].reduce((sum, count) => sum + count, ownCount),
      peersBefore: nearest.filter((count) => count > 0).length,
      asLargeBefore: countAsLarge(
        others.map(([, list]) => list),
        increase,
      ),
      peersRaised: present.length < peersPresentMin ? null : raised.length / present.length,
    };
  };
}

const peersPresentMin = 3;

/** Returns the surprise that chance exceeds at most so often a week in as many comparisons. */
function findSurpriseMin(chancePerWeek: number, comparisonsPerWeek: number): number {
  if (chancePerWeek === Infinity) return -Infinity;
  return findNormalQuantile(Math.min(chancePerWeek / Math.max(comparisonsPerWeek, 1), 0.5));
}

/** Returns whether windows are long enough to add up. */
export const mayDrift = ({ calendar }: Population): boolean => calendar.slotMs >= dayMs;

/** Returns whether the increase is remarkable for the windows that are surprising together. */
export const isDrift = ({ drift, seasonZMin }: Pick<IncreaseRating, 'drift' | 'seasonZMin'>): boolean =>
  drift !== undefined && drift.surprise >= Math.max(seasonZMin + driftMargin, driftSurpriseMin);
