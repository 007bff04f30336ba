import type { Past } from '../seasons/past-surprises.ts';
import { findMedian, toLog } from '../seasons/robust-statistics.ts';
import { centerOf, toExpectation } from '../seasons/season.ts';
import type { MemoryEntry, RecalledMemory } from '../memory/memory.ts';
import { appendToList } from '../memory/recall.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** An entity with fewer active windows has no usual size. */
const activeMin = 7;
const asLargeShare = 0.8;
const nearestMin = 3;

/** Returns whether an entity has a usual size. */
export const isSettled = (one: Past | undefined): one is Past =>
  one !== undefined && one.seasonal.profile.active >= activeMin;

/** An increase to `number`. `usual` is the logarithm of what was expected. */
export type Increase = { number: number; usual: number };

export const strengthOf = ({ number, usual }: Increase): number => toLog(number) - usual;

/**
 * Returns whether the entity had an increase before that this one does not exceed `ratio` times, neither in size nor as a share of what was usual
 * then.
 */
export function hadIncrease({ seasonal, settled }: Past, { number, usual }: Increase, ratio: number): boolean {
  const { series, calendar } = seasonal.profile;
  const least = shareOf(number, usual) / ratio;
  for (let index = 0; index < settled; index++) {
    const earlier = series.numbers[index]!;
    if (earlier <= number / ratio) continue;
    const season = seasonal.seasonOf(calendar.cells[series.first + index]!);
    if (shareOf(earlier, centerOf(toExpectation(season, seasonal))) > least) return true;
  }
  return false;
}

function shareOf(number: number, usual: number): number {
  const size = Math.max(Math.exp(usual) - 0.5, 0);
  return (number - size) / Math.max(size, 1);
}

/** Counts the settled windows that were at least as surprising. */
export function countSurprises({ surprises, settled }: Past, least: number): number {
  let count = 0;
  for (let index = 0; index < settled; index++) if (surprises[index]! >= least) count += 1;
  return count;
}

export function findLargest({ seasonal, settled }: Past): number {
  return seasonal.profile.series.numbers.subarray(0, settled).reduce((most, number) => Math.max(most, number), 0);
}

/** Returns the half of the peers whose usual size is nearest to that of an entity, or all if it has none. */
export function findNearest(own: Past | undefined, peers: readonly Past[]): readonly Past[] {
  if (!isSettled(own)) return peers;
  const { level } = own.seasonal.profile;
  return peers
    .map((one) => ({ one, distance: Math.abs(one.seasonal.profile.level - level) }))
    .filter(({ distance }) => !Number.isNaN(distance))
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, Math.max(Math.ceil(peers.length / 2), nearestMin))
    .map(({ one }) => one);
}

/**
 * Counts the entities without a usual size, or not in this window, that had almost such a number, and for which it was almost as strong an
 * increase. `others` has the largest numbers that were remembered of them.
 */
export function countAsLarge(others: Iterable<readonly number[]>, increase: Increase): number {
  let count = 0;
  for (const numbers of others) {
    const most = numbers.reduce((max, number) => Math.max(max, number), 0);
    if (most < asLargeShare * increase.number) continue;
    if (toLog(most) - toLog(findMedian(numbers)!) >= asLargeShare * strengthOf(increase)) count += 1;
  }
  return count;
}

/** The memory key of the largest numbers of a window. */
export const largestKey = 'largest';
const largestMax = 10;

type GroupedNumber = { entity: string; number: number; group: string };

/** Remembers the ten largest numbers of each peer group of a window, so that a later window can compare with entities that it does not contain. */
export function rememberLargest(numbers: readonly GroupedNumber[]): MemoryEntry[] {
  const byGroup = Map.groupBy(numbers, ({ group }) => group);
  return [...byGroup.values()].flatMap(rememberLargestOfGroup);
}

function rememberLargestOfGroup(numbers: readonly GroupedNumber[]): MemoryEntry[] {
  return numbers
    .filter(({ number }) => number > 0)
    .toSorted((a, b) => b.number - a.number || compareCodeUnits(a.entity, b.entity))
    .slice(0, largestMax)
    .map(({ entity, number, group }) => ({
      key: largestKey,
      entity,
      number: null,
      value: JSON.stringify([number, group]),
    }));
}

/** Returns the remembered numbers of each entity of each peer group in the windows before a time. */
export function recallLargest({ summaries }: RecalledMemory, before: number): Map<string, Map<string, number[]>> {
  const byGroup = new Map<string, Map<string, number[]>>();
  for (const { at, entity, value } of summaries) {
    if (at >= before) continue;
    const [number, group] = JSON.parse(value) as [number, string];
    const numbers = byGroup.get(group) ?? new Map<string, number[]>();
    byGroup.set(group, numbers);
    appendToList(numbers, entity, number);
  }
  return byGroup;
}
