import {
  buildPairKey,
  createEmptyRecall,
  settledWindows,
  type MemoryQuery,
  type MemoryWindow,
  type RecalledMemory,
} from '../src/detection/analysis/memory/memory.ts';
import type { WindowMemory } from '../src/detection/analysis/memory/recall.ts';

/** Memory of consecutive windows that is indexed as it grows, because a measurement recalls all of it in each of many windows. */
export function createRunningMemory(): {
  add: (window: WindowMemory) => void;
  recall: (query: MemoryQuery) => RecalledMemory;
} {
  const windows: MemoryWindow[] = [];
  const past = createEmptyRecall();
  const firstSeen: { entity: string; key: string; at: number; nth: number }[] = [];
  const add = ({ from, to, entries }: WindowMemory): void => {
    const at = from.getTime();
    windows.push({ from, to });
    const entities = new Set<string>();
    const nth = (entity: string): number => (past.entityHistories.get(entity)?.windows ?? 0) + 1;
    for (const { key, entity, number, value } of entries) {
      const pair = buildPairKey({ key, entity });
      if (!past.known.has(pair)) {
        past.entityCounts.set(key, (past.entityCounts.get(key) ?? 0) + 1);
        firstSeen.push({ entity, key, at, nth: nth(entity) });
      }
      past.known.add(pair);
      entities.add(entity);
      if (number !== null) append(past.samples, entity, { at, number });
      if (number !== null && key === 'completed') past.counts.push({ at, number, entity });
      if (value !== null) append(past.values, entity, { at, key, value });
    }
    for (const entity of entities) {
      const history = past.entityHistories.get(entity) ?? { firstSeen: at, windows: 0 };
      past.entityHistories.set(entity, { ...history, windows: history.windows + 1 });
    }
  };
  const recall = (query: MemoryQuery): RecalledMemory => {
    const since = query.since.getTime();
    const values =
      query.want === 'values'
        ? new Map(
            query.entities.map((entity) => [entity, (past.values.get(entity) ?? []).filter(({ at }) => at >= since)]),
          )
        : past.values;
    const novelties: RecalledMemory['novelties'] = new Map();
    if (query.want === 'known') {
      const { from, to } = query.novelty;
      for (const { entity, key, at, nth } of firstSeen)
        if (nth > settledWindows && at >= from.getTime() && at < to.getTime()) append(novelties, entity, { key, at });
    }
    // Like the database, recalls the samples of the asked entities only.
    const samples =
      query.want === 'samples'
        ? new Map(
            query.entities.flatMap((entity) => (past.samples.has(entity) ? [[entity, past.samples.get(entity)!]] : [])),
          )
        : past.samples;
    return {
      ...past,
      values,
      novelties,
      samples,
      windows: windows.filter(({ from }) => from.getTime() >= since),
      windowsEver: windows.length,
    };
  };
  return { add, recall };
}

function append<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
