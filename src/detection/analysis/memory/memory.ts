import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';

/** Whose memory: one generation of one detection. */
export type MemoryScope = { orgId: OrgId; detectionId: string; generation: string };

/** One thing remembered of one window. `key` and `entity` are bounded texts, unique together within the window; `value` is JSON. */
export type MemoryEntry = { key: string; entity: string; number: number | null; value: string | null };

export type MemoryPair = { key: string; entity: string };

/** What a category wants to know of the past: windows that begin at or after `since` and end at or before its own begins. */
export type MemoryQuery =
  | { want: 'nothing'; since: Date }
  | { want: 'known'; since: Date; pairs: MemoryPair[] }
  | { want: 'samples'; since: Date; entities: string[] }
  | { want: 'values'; since: Date; entities: string[] };

export type PastWindow = { from: Date; to: Date };

/** `at` is a window's start in epoch milliseconds. */
type PastSample = { at: number; number: number };
export type PastValue = { at: number; key: string; value: string };
type PastSight = { firstSeen: number; windows: number };

/**
 * The answer to a MemoryQuery. `windows`: those within reach, in order; `windowsEver`: how many of the generation lie before,
 * however long ago. For `known`: which of the pairs were there, when each entity with an unknown pair was seen, and by how
 * many entities each unknown key was shown. For `samples` and `values`: entries per entity, in order of window and key.
 */
export type PastMemory = {
  windows: PastWindow[];
  windowsEver: number;
  known: Set<string>;
  sights: Map<string, PastSight>;
  holders: Map<string, number>;
  samples: Map<string, PastSample[]>;
  values: Map<string, PastValue[]>;
};

/** The past in which nothing happened. */
export function emptyPast(windows: PastWindow[] = [], windowsEver = windows.length): PastMemory {
  const past = {
    known: new Set<string>(),
    sights: new Map(),
    holders: new Map(),
    samples: new Map(),
    values: new Map(),
  };
  return { windows, windowsEver, ...past };
}

/** How `known` names a pair. */
export function pairKey({ key, entity }: MemoryPair): string {
  return `${key}/${entity}`;
}

/** Says whether a past window counts for one that begins at `from`: no window sees itself, a later one, or one beyond reach. */
export function isWithinReach(past: PastWindow, from: Date, since: Date): boolean {
  return past.to <= from && past.from >= since;
}

/** Below this many windows a category that compares with the past is still learning. */
export const learningWindows = 7;

export function isLearning(past: PastMemory): boolean {
  return past.windowsEver < learningWindows;
}

export function sinceOf(window: AnalysisWindow, reachMs: number): Date {
  return new Date(window.from.getTime() - reachMs);
}
