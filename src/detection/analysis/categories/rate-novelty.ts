import { dayMs, weekMs, type AnalysisWindow } from '../analysis-definition.ts';
import { type AnalysisInput, peersMin, sensitivityOf } from '../category.ts';
import { computeSettledEnd, type Novelty, type RecalledMemory, type RecalledCombination } from '../memory/memory.ts';
import type { Sensitivity } from '../tuning.schema.ts';
import { appendToList } from '../memory/recall.ts';
import { findPlace } from '../rows/places.ts';
import { isAdministrative } from '../rows/administrative.ts';
import { memoizePerGroup, type GroupedRow } from '../rows/group-rows.ts';
import { combineValues, type Combination } from '../rows/row-values.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import { findStayTimes } from './travel.ts';

/** The latest days are excluded from the usual values, so that an ongoing intrusion cannot make its own values usual. */
const unsettledMs = 2 * dayMs;
/** Number of windows from which the age of an entity is ignored. */
const matureWindows = 24;

/**
 * A new value of an entity counts only if the entity was in at least `windowsMin` earlier windows. New values that entities show more than
 * `usualPerWeek` times a week do not count.
 */
const noveltyBySensitivity: Record<Sensitivity, { windowsMin: number; usualPerWeek: number }> = {
  low: { windowsMin: 24, usualPerWeek: 0.25 },
  medium: { windowsMin: 4, usualPerWeek: 1 },
  high: { windowsMin: 0, usualPerWeek: Infinity },
};

/** How the new values of an entity compare with what it and the other entities usually show. */
export type NoveltyRating = {
  /** Why the new values were to be expected, or undefined if they were not. */
  expectedBecause: 'peers' | 'young entity' | 'often new' | 'often new for others' | undefined;
  /** Number of other entities that showed the rarest of the values. */
  otherEntities: number;
  /** Values that fewer other entities than the minimum of `tuning.peers` showed before. */
  rareValues: number;
  /** How many times a week any entity showed at least as many rare new values in one window. */
  similarPerWeek: number;
};

/** The rare values that an entity showed for the first time in one window. */
type NoveltyEvent = { entity: string; at: number; nth: number; rareValues: number; administrative: number };

/**
 * Returns a function that rates the new values `keys` of an entity. They are expected if enough other entities have shown all of them, if the
 * entity was in few windows yet, if it showed as many rare new values in the week before the last two days, or if entities often do. Operations
 * that change accounts, rights or what is recorded are compared with their own kind, and it does not matter how often others are new to them.
 */
export function createNoveltyRating({
  definition,
  window,
  past,
}: AnalysisInput & { past: RecalledMemory }): (entity: string, keys: readonly string[]) => NoveltyRating {
  const rareBelow = peersMin(definition);
  const { windowsMin, usualPerWeek } = noveltyBySensitivity[sensitivityOf(definition)];
  const isRare = (others: number): boolean => rareBelow === 0 || others < rareBelow;
  const countOthers = (key: string, own = 0): number => Math.max(0, (past.entityCounts.get(key) ?? 0) - own);
  const settledEnd = computeSettledEnd(past, window, unsettledMs);
  const events = [...past.novelties].flatMap(([entity, novelties]) =>
    groupEvents(
      entity,
      novelties.filter(({ at, key }) => at < settledEnd && isRare(countOthers(key, 1))),
    ),
  );
  const weeks = Math.max((settledEnd - (past.windows[0]?.from ?? window.from).getTime()) / weekMs, 1);
  return (entity, keys) => {
    const others = keys.map((key) => countOthers(key));
    const rareKeys = keys.filter((key) => isRare(countOthers(key)));
    const rareValues = rareKeys.length;
    const administrative = rareKeys.filter(isAdministrativeKey).length;
    const windows = past.entityHistories.get(entity)?.windows ?? 0;
    // The younger an entity is, the less surprising are its new values. Compare with entities of at least half its age.
    const nthMin = Math.min(matureWindows, windows / 2);
    const similar = events.filter(
      (event) => event.rareValues >= rareValues && event.administrative >= administrative && event.nth > nthMin,
    );
    const ofEntity = similar.filter((event) => event.entity === entity && event.at >= settledEnd - weekMs);
    const sampled = similar.filter((event) => past.sampled.has(event.entity)).length * past.sampleWeight;
    const expectedBecause = ((): NoveltyRating['expectedBecause'] => {
      if (rareValues === 0) return 'peers';
      if (windows < Math.min(windowsMin, Math.ceil(past.windows.length / 4))) return 'young entity';
      if (ofEntity.length > 0) return 'often new';
      if (administrative > 0) return undefined;
      return sampled > 1 && sampled / weeks > usualPerWeek ? 'often new for others' : undefined;
    })();
    return {
      expectedBecause,
      otherEntities: Math.min(...others),
      rareValues,
      similarPerWeek: Math.round((10 * sampled) / weeks) / 10,
    };
  };
}

function groupEvents(entity: string, novelties: readonly Novelty[]): NoveltyEvent[] {
  const byWindow = Map.groupBy(novelties, ({ at }) => at);
  return [...byWindow].map(([at, rare]) => ({
    entity,
    at,
    nth: rare[0]!.nth,
    rareValues: rare.length,
    administrative: rare.filter(({ key }) => isAdministrativeKey(key)).length,
  }));
}

/** A combination of values with the rows of the entity that have it. */
export type SeenCombination = Omit<Combination, 'key'> & { rows: GroupedRow[] };

const administrativePrefix = 'admin:';
/** Returns whether a remembered key is that of an operation that changes accounts, rights or what is recorded. */
const isAdministrativeKey = (key: string): boolean => key.startsWith(administrativePrefix);

/** Returns the combinations of a group's rows by the key under which they are remembered. */
export const groupByCombination = memoizePerGroup(function* ({ rows }) {
  const byKey = new Map<string, SeenCombination>();
  for (const row of rows) {
    for (const { key, parts, values } of combineValues(row.row, row.field)) {
      const isOperation = values.some(([field, value]) => isAdministrative(field, value));
      const name = isOperation ? `${administrativePrefix}${key}` : key;
      const seen = byKey.get(name);
      if (seen) seen.rows.push(row);
      else byKey.set(name, { parts, values, rows: [row] });
    }
    yield;
  }
  return byKey;
});

/**
 * Returns what is remembered of a combination besides its key, as JSON: its parts if there are several, so that rows with only some of them are
 * recognized, and the latest place with its time, or the start of the window if the rows have no times. Null if there is neither.
 */
export function* rememberCombination({ parts, rows }: SeenCombination, window: AnalysisWindow): Steps<string | null> {
  const stays = yield* mapInSteps(rows, ({ row }) => {
    const place = findPlace(row);
    return place === undefined ? [] : [{ place, at: findStayTimes(row, window)?.last ?? window.from.getTime() }];
  });
  const latest = stays
    .flat()
    .reduce<{ place: string; at: number } | undefined>((a, b) => (a && a.at >= b.at ? a : b), undefined);
  if (parts.length < 2 && !latest) return null;
  return JSON.stringify({ ...(parts.length > 1 ? { parts: parts.join(' ') } : {}), ...latest });
}

/**
 * Returns a function that decides whether all parts of a combination were seen together before, with others that are absent now. A combination
 * without any value is part of every earlier one.
 */
export function* findPartTest(
  known: readonly RecalledCombination[],
  isEntityKnown: boolean,
): Steps<(parts: readonly string[]) => boolean> {
  const byPart = new Map<string, Set<string>[]>();
  for (const { parts } of known) {
    yield;
    const set = new Set(parts.split(' '));
    for (const part of set) appendToList(byPart, part, set);
  }
  return (parts) => {
    if (parts.length === 0) return isEntityKnown;
    const lists = parts.map((part) => byPart.get(part) ?? []);
    const shortest = lists.reduce((a, b) => (b.length < a.length ? b : a));
    return shortest.some((set) => parts.every((part) => set.has(part)));
  };
}
