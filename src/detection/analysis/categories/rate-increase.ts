import { dayMs, weekMs, type AnalysisDefinition, type AnalysisWindow } from '../analysis-definition.ts';
import type { EntitySamples } from '../memory/entity-samples.ts';
import { computeSettledEnd, type MemoryEntry, type RecalledMemory } from '../memory/memory.ts';
import { increaseLimits, peersMin as minimumOfPeers } from '../tuning/tuning-defaults.ts';
import type { Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** A running intrusion must not become its own baseline, so the latest days are left out if there are enough others. */
const unsettledMs = 2 * dayMs;
const samplesMin = 7;
const asLargeShare = 0.8;

/** The memory key of the largest numbers of a window. */
export const largestKey = 'largest';
const largestMax = 10;

/** Remembers the ten largest numbers of each peer group of a window, so that a later window can compare with entities that it does not contain. */
export function rememberLargest(numbers: readonly { entity: string; number: number; group: string }[]): MemoryEntry[] {
  const byGroup = Map.groupBy(numbers, ({ group }) => group);
  return [...byGroup.values()].flatMap(rememberLargestOfGroup);
}

function rememberLargestOfGroup(numbers: readonly { entity: string; number: number; group: string }[]): MemoryEntry[] {
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

/** Returns the largest number of each entity of each peer group in the windows before a time. */
function findLargest({ summaries }: RecalledMemory, before: number): Map<string, Map<string, number>> {
  const byGroup = new Map<string, Map<string, number>>();
  for (const { at, entity, value } of summaries) {
    if (at >= before) continue;
    const [number, group] = JSON.parse(value) as [number, string];
    const largest = byGroup.get(group) ?? new Map<string, number>();
    byGroup.set(group, largest.set(entity, Math.max(largest.get(entity) ?? 0, number)));
  }
  return byGroup;
}

type Profile = { center: number; spread: number; largest: number; isSparse: boolean; old: number[] };

/** How a number compares with the largest numbers of its own past and of the other entities' past. */
export type IncreaseRating = {
  /** The largest number of the entity before the last two days. Null for a new entity. */
  largestBefore: number | null;
  /** How many earlier numbers of the compared entities were as far above what is usual for them. */
  similarBefore: number;
  /** How many other entities had a number that was almost as large, at least 80 %, before the last two days. */
  asLargeBefore: number;
  /** No such increase is usual, so the severity follows z. Otherwise it is low. */
  isRare: boolean;
  /** Such an increase happens so often that it is no candidate. */
  isUsual: boolean;
};

/** Rates how rare the number of an entity is. */
export type RateIncrease = (entity: string, number: number) => IncreaseRating;

/**
 * Returns a function that rates how rare an increase is: z assumes counts that spread evenly, but numbers such as bytes or calls have
 * peaks every day. The function compares an increase with all earlier increases of the entities that the window recalled.
 */
export function* createIncreaseRating(
  { definition, window, past }: { definition: AnalysisDefinition; window: AnalysisWindow; past: RecalledMemory },
  findSamples: (entity: string) => EntitySamples | undefined,
  groupOf: (entity: string) => string,
): Steps<RateIncrease> {
  const settledEnd = computeSettledEnd(past, window, unsettledMs);
  const profiles = new Map<string, Profile>();
  for (const entity of past.samples.keys()) {
    yield;
    const samples = findSamples(entity);
    if (samples) profiles.set(entity, createProfile(samples, settledEnd));
  }
  const pools = new Map(
    [...Map.groupBy(profiles, ([entity]) => groupOf(entity))].map(([group, members]) => [
      group,
      createPool(members.map(([, profile]) => profile)),
    ]),
  );
  const largest = findLargest(past, settledEnd);
  const firstAt = past.windows[0]?.from.getTime() ?? window.from.getTime();
  const historyWeeks = (window.from.getTime() - firstAt) / weekMs;
  const weeks = Math.max(historyWeeks, 1);
  const { ratioMin, rarePerWeek, usualPerWeek } = increaseLimits(definition);
  const peersMin = minimumOfPeers(definition);
  // In a short history, the largest number is soon exceeded.
  const recordRatio = historyWeeks < 1 ? 2 * ratioMin : ratioMin;
  return (entity, number) => {
    const profile = profiles.get(entity);
    const isComparable = profile !== undefined && !profile.isSparse;
    // An entity without a past of its own is compared with the numbers of the others.
    // A number must also stand out from the largest ones of the other entities, not only exceed them.
    let asLarge = 0;
    const { strengths, numbers } = pools.get(groupOf(entity)) ?? createPool([]);
    for (const [other, most] of largest.get(groupOf(entity)) ?? [])
      if (other !== entity && most >= asLargeShare * number) asLarge += 1;
    const similarBefore = isComparable ? countFrom(strengths, strengthOf(profile, number)) : countFrom(numbers, number);
    const largestBefore = profile?.largest ?? null;
    const isRecord = largestBefore === null || largestBefore <= 0 || number >= recordRatio * largestBefore;
    return {
      largestBefore,
      similarBefore,
      asLargeBefore: asLarge,
      isRare: isRecord && similarBefore <= rarePerWeek * weeks && (peersMin === 0 || asLarge < peersMin),
      isUsual: similarBefore > usualPerWeek * weeks,
    };
  };
}

/** The earlier numbers of a group of entities, and how far each was above what is usual for its entity. Both are sorted. */
function createPool(profiles: readonly Profile[]): { strengths: Float64Array; numbers: Float64Array } {
  const dense = profiles.filter(({ isSparse }) => !isSparse);
  const strengths = dense.flatMap((profile) => profile.old.map((number) => strengthOf(profile, number)));
  return {
    strengths: Float64Array.from(strengths).toSorted(),
    numbers: Float64Array.from(profiles.flatMap(({ old }) => old)).toSorted(),
  };
}

function createProfile({ all }: EntitySamples, before: number): Profile {
  const settled = all.filter(({ at }) => at < before);
  const used = (settled.length >= samplesMin ? settled : all).map(({ number }) => number);
  const active = used.filter((number) => number !== 0).map(toScale);
  const center = median(active);
  const deviation = median(active.map((value) => Math.abs(value - center)));
  return {
    center,
    spread: Math.max(1.4826 * deviation, 0.5),
    largest: used.reduce((largest, number) => Math.max(largest, number), 0),
    isSparse: active.length < samplesMin,
    old: used.filter((number) => number !== 0),
  };
}

/** Compares numbers by their ratio, because peaks are multiples of what is usual. Like the logarithm, but defined for all numbers. */
const toScale = Math.asinh;

const strengthOf = ({ center, spread }: Profile, number: number): number => (toScale(number) - center) / spread;

function median(values: number[]): number {
  if (values.length === 0) return 0;
  const sorted = Float64Array.from(values).toSorted();
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}

/** Counts the numbers of a sorted list from `least` on. */
function countFrom(sorted: Float64Array, least: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return sorted.length - low;
}
