import { hash } from 'node:crypto';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { AnalysisWindow } from '../analysis-definition.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** Memory is stored per generation of a detection. */
export type MemoryScope = { orgId: OrgId; detectionId: string; generation: string };

/** One fact remembered about one window. `key` and `entity` are bounded texts, unique together within the window. `value` is JSON. */
export type MemoryEntry = { key: string; entity: string; number: number | null; value: string | null };

export type MemoryPair = { key: string; entity: string };

/** The memory that a category needs. Covers windows that begin at or after `since` and end before the examined window begins. */
export type MemoryQuery =
  | { want: 'nothing'; since: Date }
  | { want: 'known'; since: Date; pairs: MemoryPair[]; summaryKey: string }
  | { want: 'samples'; since: Date; entities: string[]; summaryKey: string }
  | { want: 'values'; since: Date; valuesSince: Date; entities: string[]; summaryKey: string };

export type MemoryWindow = { from: Date; to: Date };

/** `at` is a window's start in epoch milliseconds. */
type RecalledSample = { at: number; number: number };
export type RecalledSummary = { at: number; entity: string; value: string };
/** Maximum number of entities of a key that are counted. */
export const countedEntitiesMax = 200;
export const summariesMax = 20_000;
export type RecalledValue = { at: number; key: string; value: string };
type EntityHistory = { firstSeen: number; windows: number };
/**
 * A combination of values that an entity showed: its parts, separated by spaces (empty if there is only one), and where, with the latest time
 * in epoch milliseconds (the start of the window without a place).
 */
export type RecalledCombination = { parts: string; place: string | null; at: number };
export const combinationsMax = 50_000;
/** A key that an entity showed for the first time in its `nth` window, which begins at `at`. */
export type Novelty = { key: string; at: number; nth: number };

const settledWindows = 7;

/** Returns in how many windows an entity must have been to be settled. Before, almost everything that it shows is new. */
export const settledFrom = (windows: number): number => Math.min(settledWindows, Math.ceil(windows / 4));

/**
 * The result of a MemoryQuery. `windows` are those within the lookback, in order. `windowsEver` counts all earlier windows of the generation.
 * For `known`: `known` contains the pairs that were found. For the others, `entityHistories` contains when their entities were seen, and
 * `entityCounts` how many settled ones of the first 200 entities that showed their keys there are. `novelties` are the keys that these entities, and a sample of the settled ones under `summaryKey`, showed
 * for the first time. `combinations` are those of the entities of unknown pairs, latest first, at most 50,000. `sampled` are the sampled entities, each of which stands for `sampleWeight` entities.
 * For `samples` and `values`: entries per entity, ordered by window and key, without those under `summaryKey`. `summaries` are the latest
 * 20,000 values under that key, of all entities, ordered by window and entity.
 */
export type RecalledMemory = {
  windows: MemoryWindow[];
  windowsEver: number;
  known: Set<string>;
  entityHistories: Map<string, EntityHistory>;
  entityCounts: Map<string, number>;
  novelties: Map<string, Novelty[]>;
  combinations: Map<string, RecalledCombination[]>;
  sampled: Set<string>;
  sampleWeight: number;
  summaries: RecalledSummary[];
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
    combinations: new Map(),
    sampled: new Set(),
    sampleWeight: 1,
    summaries: [],
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

/**
 * Returns the time before which memory counts as settled: the latest days are left out of what is usual, so that a running intrusion does not
 * excuse itself. Leaves out `unsettledMs`, but at most a quarter of the history.
 */
export function computeSettledEnd({ windows }: RecalledMemory, window: AnalysisWindow, unsettledMs: number): number {
  const to = window.from.getTime();
  const historyMs = to - (windows[0]?.from.getTime() ?? to);
  return to - Math.min(unsettledMs, historyMs / 4);
}

/** Sample size that is sufficient to estimate how often entities show new values. */
const sampleMax = 300;

/** Returns a deterministic sample of at most 300 entities, so that all windows choose the same ones. */
export function chooseEntities(entities: Iterable<string>): string[] {
  const list = [...new Set(entities)];
  if (list.length <= sampleMax) return list.toSorted(compareCodeUnits);
  return list
    .map((entity) => ({ entity, rank: hash('sha256', entity) }))
    .toSorted((a, b) => compareCodeUnits(a.rank, b.rank))
    .slice(0, sampleMax)
    .map(({ entity }) => entity)
    .toSorted(compareCodeUnits);
}

/**
 * Returns the settled ones of 300 entities, and how many entities each of the 300 stands for. `summaries` are the chosen entities of each
 * window, with the number of all its entities.
 */
export function sampleEntities(
  summaries: readonly Pick<RecalledSummary, 'entity' | 'value'>[],
  isSettled: (entity: string) => boolean,
): { sampled: Set<string>; sampleWeight: number } {
  const listed = new Set(summaries.map(({ entity }) => entity));
  const chosen = chooseEntities(listed);
  const total = summaries.reduce((most, { value }) => Math.max(most, Number(value)), listed.size);
  return { sampled: new Set(chosen.filter(isSettled)), sampleWeight: total / Math.max(chosen.length, 1) };
}
