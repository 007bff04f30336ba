import type { AnalysisWindow } from '../analysis-definition.ts';
import {
  createEmptyRecall,
  buildPairKey,
  settledFrom,
  combinationsMax,
  countedEntitiesMax,
  summariesMax,
  type MemoryEntry,
  type MemoryQuery,
  type RecalledCombination,
  type RecalledMemory,
  type RecalledSummary,
  type MemoryWindow,
  sampleEntities,
} from './memory.ts';
import { mapInSteps, type Steps } from '../../../platform/lib/concurrency/slices.ts';
import { compareCodeUnits } from '../../../platform/lib/text/canonical-text.ts';

/** A window with its memory entries. */
export type WindowMemory = MemoryWindow & { entries: readonly MemoryEntry[] };

/** Runs a query over in-process memory, with the same result as `recallMemory` in SQL. Used by previews and tests, which store nothing. */
export function* recallFromWindows(
  windows: readonly WindowMemory[],
  { from }: AnalysisWindow,
  query: MemoryQuery,
): Steps<RecalledMemory> {
  const earlier = windows.filter((window) => window.to <= from);
  const recent = earlier
    .filter((window) => window.from >= query.since)
    .toSorted((a, b) => a.from.getTime() - b.from.getTime());
  const past = createEmptyRecall(
    recent.map((window) => ({ from: window.from, to: window.to })),
    earlier.length,
  );
  if (query.want === 'known') yield* fillKnown(past, recent, query);
  if (query.want === 'samples' || query.want === 'values') yield* fillEntries(past, recent, query);
  return past;
}

type KnownQuery = Extract<MemoryQuery, { want: 'known' }>;

function* fillKnown(
  past: RecalledMemory,
  windows: readonly WindowMemory[],
  { pairs, summaryKey }: KnownQuery,
): Steps<void> {
  const remembered = new Set<string>();
  for (const { entries } of windows) for (const key of yield* mapInSteps(entries, buildPairKey)) remembered.add(key);
  const unknown = pairs.filter((pair) => !remembered.has(buildPairKey(pair)));
  for (const pair of pairs) if (remembered.has(buildPairKey(pair))) past.known.add(buildPairKey(pair));
  if (unknown.length === 0) return;
  const histories = yield* findHistories(windows);
  const settledMin = settledFrom(past.windows.length);
  const isSettled = (entity: string): boolean => histories.get(entity)!.windows >= settledMin;
  const unknownEntities = new Set(unknown.map(({ entity }) => entity));
  for (const entity of unknownEntities) {
    const history = histories.get(entity);
    if (history) past.entityHistories.set(entity, history);
  }
  past.combinations = yield* findCombinations(windows, unknownEntities, summaryKey);
  if (past.entityHistories.size > 0) {
    Object.assign(past, sampleEntities(listSummaries(windows, summaryKey), isSettled));
    yield* fillNovelties(past, windows, { entities: past.sampled.union(unknownEntities), summaryKey });
  }
  const novelKeys = [...past.novelties.values()].flat().map(({ key }) => key);
  const keys = new Set([...unknown.map(({ key }) => key), ...novelKeys]);
  const entitiesByKey = new Map<string, Set<string>>();
  for (const { entries } of windows) {
    yield;
    for (const { key, entity } of entries)
      if (keys.has(key)) entitiesByKey.set(key, (entitiesByKey.get(key) ?? new Set()).add(entity));
  }
  for (const [key, entities] of entitiesByKey) {
    yield;
    past.entityCounts.set(
      key,
      [...entities].toSorted(compareCodeUnits).slice(0, countedEntitiesMax).filter(isSettled).length,
    );
  }
}

function* findCombinations(
  windows: readonly WindowMemory[],
  entities: ReadonlySet<string>,
  summaryKey: string,
): Steps<RecalledMemory['combinations']> {
  const latest = new Map<string, RecalledCombination & { entity: string }>();
  for (const { from, entries } of windows)
    for (const { key, entity, value } of entries) {
      yield;
      if (key === summaryKey || !entities.has(entity) || !value?.startsWith('{')) continue;
      const { parts = '', place = null, at = from.getTime() } = JSON.parse(value) as Partial<RecalledCombination>;
      const name = JSON.stringify([entity, parts, place]);
      latest.set(name, { entity, parts, place, at: Math.max(at, latest.get(name)?.at ?? at) });
    }
  const combinations: RecalledMemory['combinations'] = new Map();
  const sorted = [...latest.values()].toSorted(
    (a, b) =>
      b.at - a.at ||
      compareCodeUnits(a.entity, b.entity) ||
      compareCodeUnits(a.parts, b.parts) ||
      compareCodeUnits(a.place ?? '\uffff', b.place ?? '\uffff'),
  );
  for (const { entity, ...combination } of sorted.slice(0, combinationsMax))
    appendToList(combinations, entity, combination);
  return combinations;
}

function* findHistories(windows: readonly WindowMemory[]): Steps<RecalledMemory['entityHistories']> {
  const histories: RecalledMemory['entityHistories'] = new Map();
  for (const { from, entries } of windows) {
    for (const entity of new Set(entries.map((entry) => entry.entity))) {
      yield;
      const history = histories.get(entity) ?? { firstSeen: from.getTime(), windows: 0 };
      histories.set(entity, { ...history, windows: history.windows + 1 });
    }
  }
  return histories;
}

function* fillNovelties(
  past: RecalledMemory,
  windows: readonly WindowMemory[],
  { entities, summaryKey }: { entities: ReadonlySet<string>; summaryKey: string },
): Steps<void> {
  const seenBy = new Map<string, { keys: Set<string>; windows: number }>();
  for (const { from, entries } of windows) {
    const counted = new Set<string>();
    for (const { key, entity } of entries.toSorted((one, other) => compareCodeUnits(one.key, other.key))) {
      yield;
      if (!entities.has(entity) || key === summaryKey) continue;
      const seen = seenBy.get(entity) ?? { keys: new Set<string>(), windows: 0 };
      seenBy.set(entity, seen);
      if (!counted.has(entity)) seen.windows += 1;
      counted.add(entity);
      if (!seen.keys.has(key)) appendToList(past.novelties, entity, { key, at: from.getTime(), nth: seen.windows });
      seen.keys.add(key);
    }
  }
}

function* fillEntries(
  past: RecalledMemory,
  windows: readonly WindowMemory[],
  query: Extract<MemoryQuery, { want: 'samples' | 'values' }>,
): Steps<void> {
  const entities = new Set(query.entities);
  for (const { from, entries } of windows) {
    const at = from.getTime();
    for (const { key, entity, number, value } of entries.toSorted(
      (a, b) => compareCodeUnits(a.key, b.key) || compareCodeUnits(a.entity, b.entity),
    )) {
      yield;
      if (key === query.summaryKey || !entities.has(entity)) continue;
      if (query.want === 'samples' && number !== null) appendToList(past.samples, entity, { at, number });
      if (query.want === 'values' && value !== null && from >= query.valuesSince)
        appendToList(past.values, entity, { at, key, value });
    }
  }
  past.summaries = listSummaries(windows, query.summaryKey);
}

function listSummaries(windows: readonly WindowMemory[], summaryKey: string): RecalledSummary[] {
  const summaries = windows.flatMap(({ from, entries }) =>
    entries
      .filter(({ key, value }) => key === summaryKey && value !== null)
      .toSorted((a, b) => compareCodeUnits(a.entity, b.entity))
      .map(({ entity, value }) => ({ at: from.getTime(), entity, value: value! })),
  );
  return summaries.slice(-summariesMax);
}

export function appendToList<V>(lists: Map<string, V[]>, key: string, item: V): void {
  const list = lists.get(key);
  if (list) list.push(item);
  else lists.set(key, [item]);
}
