import { dayMs, weekMs } from '../analysis-definition.ts';
import type { AnalysisInput } from '../category.ts';
import { computeSettledEnd, type Novelty, type RecalledMemory } from '../memory/memory.ts';
import { isAdministrativeKey } from './combinations.ts';
import { noveltyLimits, peersMin } from '../tuning/tuning-defaults.ts';

/** A running intrusion must not make its own values usual, so the latest days are left out of what is usual. */
const unsettledMs = 2 * dayMs;
/** From so many windows on, the age of an entity does not matter. */
const matureWindows = 24;

/** How the new values of an entity compare with what it and the other entities usually show. */
export type NoveltyRating = {
  /** Why the new values are no news, or undefined if they are. */
  expectedBecause: 'peers' | 'young entity' | 'often new' | 'often new for others' | undefined;
  /** How many other entities showed the rarest of the values. */
  otherEntities: number;
  /** Values that fewer other entities than the minimum of `tuning.peers` showed before. */
  rareValues: number;
  /** How often a week an entity, this one or another, showed at least as many rare new values in one window. */
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
  const { windowsMin, usualPerWeek } = noveltyLimits(definition);
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
