import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';

/** Memory is stored per generation of a detection. */
export type MemoryScope = { orgId: OrgId; detectionId: string; generation: string };

/** One fact remembered about one window. `key` and `entity` are bounded texts, unique together within the window. `value` is JSON. */
export type MemoryEntry = { key: string; entity: string; number: number | null; value: string | null };

export type MemoryPair = { key: string; entity: string };

/** The memory that a category needs. Covers windows that begin at or after `since` and end before the examined window begins. */
export type MemoryQuery =
  | { want: 'nothing'; since: Date }
  | { want: 'known'; since: Date; pairs: MemoryPair[]; novelty: MemoryWindow }
  | { want: 'samples'; since: Date; entities: string[] }
  | { want: 'values'; since: Date; entities: string[]; countsOf: string };

export type MemoryWindow = { from: Date; to: Date };

/** `at` is a window's start in epoch milliseconds. */
type RecalledSample = { at: number; number: number };
export type RecalledValue = { at: number; key: string; value: string };
type EntityHistory = { firstSeen: number; windows: number };
/** A key that an entity showed for the first time in a window that begins at `at`. */
type Novelty = { key: string; at: number };

/** Before an entity was in this many windows, almost everything that it shows is new. */
export const settledWindows = 7;

/**
 * The result of a MemoryQuery. `windows` are those within the lookback, in order. `windowsEver` counts all earlier windows of the generation.
 * For `known`: `known` contains the pairs that were found. For the others, `entityHistories` tells when their entities were seen, and
 * `entityCounts` how many entities showed their keys. `novelties` are the keys that these entities showed for the first time in the
 * windows of `novelty`, after more than `settledWindows` of their windows. For `samples` and `values`: entries per entity, ordered by
 * window and key. For `values`, `counts` are the numbers under the key `countsOf`, of all entities, ordered by window and entity.
 */
export type RecalledMemory = {
  windows: MemoryWindow[];
  windowsEver: number;
  known: Set<string>;
  entityHistories: Map<string, EntityHistory>;
  entityCounts: Map<string, number>;
  novelties: Map<string, Novelty[]>;
  counts: (RecalledSample & { entity: string })[];
  samples: Map<string, RecalledSample[]>;
  values: Map<string, RecalledValue[]>;
};

export function createEmptyRecall(windows: MemoryWindow[] = [], windowsEver = windows.length): RecalledMemory {
  return {
    windows,
    windowsEver,
    known: new Set(),
    entityHistories: new Map(),
    entityCounts: new Map(),
    novelties: new Map(),
    counts: [],
    samples: new Map(),
    values: new Map(),
  };
}

/** Returns the key of a pair in `known`. */
export function buildPairKey({ key, entity }: MemoryPair): string {
  return `${key}/${entity}`;
}

/** Below this many windows, a category that compares with the past is still learning. */
export const learningWindows = 7;

export function isLearning(past: RecalledMemory): boolean {
  return past.windowsEver < learningWindows;
}

export function computeLookbackStart(window: AnalysisWindow, lookbackMs: number): Date {
  return new Date(window.from.getTime() - lookbackMs);
}
