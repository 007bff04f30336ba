import type { AnalysisWindow } from '../analysis-definition.ts';
import {
  createEmptyRecall,
  buildPairKey,
  type MemoryEntry,
  type MemoryPair,
  type MemoryQuery,
  type RecalledMemory,
  type MemoryWindow,
} from './memory.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** A window with its memory entries. */
export type WindowMemory = MemoryWindow & { entries: readonly MemoryEntry[] };

/** Runs a query over in-process memory, with the same result as `recallMemory` in SQL. Used by previews and tests, which store nothing. */
export function recallFromWindows(
  windows: readonly WindowMemory[],
  { from }: AnalysisWindow,
  query: MemoryQuery,
): RecalledMemory {
  const earlier = windows.filter((window) => window.to <= from);
  const recent = earlier
    .filter((window) => window.from >= query.since)
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
  const past = createEmptyRecall(
    recent.map((window) => ({ from: window.from, to: window.to })),
    earlier.length,
  );
  if (query.want === 'known') fillKnown(past, recent, query.pairs);
  if (query.want === 'samples' || query.want === 'values') fillEntries(past, recent, query);
  return past;
}

function fillKnown(past: RecalledMemory, windows: readonly WindowMemory[], pairs: readonly MemoryPair[]): void {
  const remembered = new Set(windows.flatMap(({ entries }) => entries.map(buildPairKey)));
  const unknown = pairs.filter((pair) => !remembered.has(buildPairKey(pair)));
  for (const pair of pairs) if (remembered.has(buildPairKey(pair))) past.known.add(buildPairKey(pair));
  const unknownEntities = new Set(unknown.map(({ entity }) => entity));
  const unknownKeys = new Set(unknown.map(({ key }) => key));
  const entitiesByKey = new Map<string, Set<string>>();
  for (const { from, entries } of windows) {
    for (const entity of new Set(entries.map((entry) => entry.entity))) {
      if (!unknownEntities.has(entity)) continue;
      const history = past.entityHistories.get(entity) ?? { firstSeen: from.getTime(), windows: 0 };
      past.entityHistories.set(entity, { ...history, windows: history.windows + 1 });
    }
    for (const { key, entity } of entries)
      if (unknownKeys.has(key)) entitiesByKey.set(key, (entitiesByKey.get(key) ?? new Set()).add(entity));
  }
  for (const [key, entities] of entitiesByKey) past.entityCounts.set(key, entities.size);
}

function fillEntries(
  past: RecalledMemory,
  windows: readonly WindowMemory[],
  query: { want: string; entities: string[] },
): void {
  const entities = new Set(query.entities);
  for (const { from, entries } of windows) {
    const at = from.getTime();
    for (const { key, entity, number, value } of entries.toSorted((a, b) => compareCodeUnits(a.key, b.key))) {
      if (!entities.has(entity)) continue;
      if (query.want === 'samples' && number !== null) appendToList(past.samples, entity, { at, number });
      if (query.want === 'values' && value !== null) appendToList(past.values, entity, { at, key, value });
    }
  }
}

export function appendToList<V>(lists: Map<string, V[]>, key: string, item: V): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
