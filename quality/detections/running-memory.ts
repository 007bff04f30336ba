import { entitiesKey } from '../../src/detection/analysis/categories/first-occurrence.ts';
import { largestKey } from '../../src/detection/analysis/categories/increase-history.ts';
import { stepsKey } from '../../src/detection/analysis/categories/rate-sequence.ts';
import {
  buildPairKey,
  createEmptyRecall,
  settledFrom,
  type MemoryQuery,
  type MemoryWindow,
  type RecalledCombination,
  type RecalledMemory,
  sampleEntities,
} from '../../src/detection/analysis/memory/memory.ts';
import type { WindowMemory } from '../../src/detection/analysis/memory/recall.ts';

const summaryKeys = new Set([stepsKey, largestKey]);
type KnownQuery = Extract<MemoryQuery, { want: 'known' }>;

/** Memory of consecutive windows that is indexed as it grows, because a measurement recalls all of it in each of many windows. */
export function createRunningMemory(): {
  add: (window: WindowMemory) => void;
  recall: (query: MemoryQuery) => RecalledMemory;
} {
  const windows: MemoryWindow[] = [];
  const past = createEmptyRecall();
  const entitiesByKey = new Map<string, Set<string>>();
  const firstSeen: { entity: string; key: string; at: number; nth: number }[] = [];
  const addCombination = (entity: string, windowAt: number, seen: Partial<RecalledCombination>): void => {
    const { parts = '', place = null, at = windowAt } = seen;
    const list = past.combinations.get(entity) ?? [];
    const same = list.find((one) => one.parts === parts && one.place === place);
    if (same) same.at = Math.max(same.at, at);
    else past.combinations.set(entity, [...list, { parts, place, at }]);
  };
  const add = ({ from, to, entries }: WindowMemory): void => {
    const at = from.getTime();
    windows.push({ from, to });
    const entities = new Set<string>();
    const nth = (entity: string): number => (past.entityHistories.get(entity)?.windows ?? 0) + 1;
    for (const { key, entity, number, value } of entries) {
      if (key === entitiesKey) continue;
      const pair = buildPairKey({ key, entity });
      if (!past.known.has(pair)) {
        entitiesByKey.set(key, (entitiesByKey.get(key) ?? new Set()).add(entity));
        firstSeen.push({ entity, key, at, nth: nth(entity) });
      }
      past.known.add(pair);
      entities.add(entity);
      if (number !== null) append(past.samples, entity, { at, number });
      if (value === null) continue;
      if (value.startsWith('{') && number === null) addCombination(entity, at, JSON.parse(value));
      if (summaryKeys.has(key)) past.summaries.push({ at, entity, value });
      else append(past.values, entity, { at, key, value });
    }
    for (const entity of entities) {
      const history = past.entityHistories.get(entity) ?? { firstSeen: at, windows: 0 };
      past.entityHistories.set(entity, { ...history, windows: history.windows + 1 });
    }
  };
  const recallKnown = ({ pairs }: KnownQuery): Partial<RecalledMemory> => {
    const unknown = pairs.filter((pair) => !past.known.has(buildPairKey(pair)));
    if (unknown.length === 0) return {};
    const settledMin = settledFrom(windows.length);
    const isSettled = (entity: string): boolean => past.entityHistories.get(entity)!.windows >= settledMin;
    const sample = sampleEntities(
      [...past.entityHistories.keys()].map((entity) => ({ entity, value: '0' })),
      isSettled,
    );
    const novelties: RecalledMemory['novelties'] = new Map();
    const entities = sample.sampled.union(new Set(unknown.map(({ entity }) => entity)));
    for (const { entity, key, at, nth } of firstSeen)
      if (entities.has(entity)) append(novelties, entity, { key, at, nth });
    const keys = [...unknown, ...[...novelties.values()].flat()].map(({ key }) => key);
    const entityCounts = new Map(
      [...new Set(keys)].map((key) => [key, [...(entitiesByKey.get(key) ?? [])].filter(isSettled).length]),
    );
    return { novelties, entityCounts, ...sample };
  };
  const recall = (query: MemoryQuery): RecalledMemory => {
    const since = query.since.getTime();
    const values =
      query.want === 'values'
        ? new Map(
            query.entities.map((entity) => [
              entity,
              (past.values.get(entity) ?? []).filter(({ at }) => at >= query.valuesSince.getTime()),
            ]),
          )
        : past.values;
    const known: Partial<RecalledMemory> = query.want === 'known' ? recallKnown(query) : {};
    // Like the database, recalls the samples of the asked entities only.
    const samples =
      query.want === 'samples'
        ? new Map(
            query.entities.flatMap((entity) => (past.samples.has(entity) ? [[entity, past.samples.get(entity)!]] : [])),
          )
        : past.samples;
    return {
      ...past,
      ...known,
      values,
      samples,
      summaries: past.summaries.filter(({ at }) => at >= since),
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
