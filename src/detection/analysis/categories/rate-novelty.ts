import { dayMs, type AnalysisDefinition, type AnalysisWindow } from '../analysis-definition.ts';
import type { MemoryWindow, RecalledMemory } from '../memory/memory.ts';
import { entityWindowsMin, peersMin } from '../tuning/tuning-defaults.ts';

/** A running intrusion must not make its own values usual, so the latest days are left out of what an entity usually shows. */
const unsettledMs = 2 * dayMs;
const noveltyMs = 7 * dayMs;
/** So many rare new values of one entity within the unsettled days are an event of their own. */
const burstMin = 5;

/** Returns the time in which the new values of an entity count as its habit. */
export function computeNoveltyRange({ from }: AnalysisWindow): MemoryWindow {
  const to = new Date(from.getTime() - unsettledMs);
  return { from: new Date(to.getTime() - noveltyMs), to };
}

/** How the new values of an entity compare with what it and the other entities usually show. */
export type NoveltyRating = {
  /** Why the new values are no news, or undefined if they are. */
  expectedBecause: 'peers' | 'young entity' | 'often new' | undefined;
  /** How many other entities showed the rarest of the values. */
  otherEntities: number;
  /** Values that fewer entities than the minimum of `tuning.peers` showed before. */
  rareValues: number;
  /** Rare values that were new for the entity in the week before the last two days. */
  earlierNovelties: number;
};

/**
 * Rates the new values `keys` of an entity. New values are expected if enough other entities have shown all of them, if the entity was
 * in few windows yet, or if it showed other rare new values in the week before the last two days. Five rare ones at once are news anyway.
 */
export function rateNovelty(
  { definition, past }: { definition: AnalysisDefinition; past: RecalledMemory },
  entity: string,
  keys: readonly string[],
): NoveltyRating {
  const countPeers = (key: string, own: number): number => (past.entityCounts.get(key) ?? 0) - own;
  const rareBelow = peersMin(definition);
  const isRare = (others: number): boolean => rareBelow === 0 || others < rareBelow;
  const others = keys.map((key) => countPeers(key, 0));
  const rareValues = others.filter(isRare).length;
  const earlierNovelties = (past.novelties.get(entity) ?? []).filter(({ key }) => isRare(countPeers(key, 1))).length;
  const windows = past.entityHistories.get(entity)?.windows ?? 0;
  const expectedBecause = ((): NoveltyRating['expectedBecause'] => {
    if (rareValues === 0) return 'peers';
    if (rareValues >= burstMin) return undefined;
    if (windows < Math.min(entityWindowsMin(definition), Math.ceil(past.windows.length / 4))) return 'young entity';
    return earlierNovelties > 0 ? 'often new' : undefined;
  })();
  return { expectedBecause, otherEntities: Math.min(...others), rareValues, earlierNovelties };
}
