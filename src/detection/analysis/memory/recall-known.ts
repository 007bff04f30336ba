import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { splitIntoBatches } from '../../../platform/lib/concurrency/batches.ts';
import {
  buildPairKey,
  combinationsMax,
  countedEntitiesMax,
  settledFrom,
  summariesMax,
  type MemoryPair,
  type MemoryScope,
  type Novelty,
  type RecalledCombination,
  type RecalledMemory,
  type RecalledSummary,
  chooseEntities,
  sampleEntities,
} from './memory.ts';
import { appendToList } from './recall.ts';

/** The starts of the recalled windows, with the first and the last. */
export type RecallRange = { starts: Date[]; first: Date; last: Date };

/** Keys or entities of a statement. */
export const batchSize = 5_000;

type KnownQuery = { pairs: MemoryPair[]; range: RecallRange; summaryKey: string };

/** Fills `known`, and for the unknown pairs `entityHistories`, `entityCounts` and `novelties`. */
export async function fillKnown(tx: Tx, scope: MemoryScope, query: KnownQuery, past: RecalledMemory): Promise<void> {
  for (const pairs of splitIntoBatches(query.pairs, batchSize)) {
    for (const pair of await findKnown(tx, scope, pairs, query.range)) past.known.add(buildPairKey(pair));
  }
  const unknown = query.pairs.filter((pair) => !past.known.has(buildPairKey(pair)));
  if (unknown.length === 0) return;
  const entities = new Set(unknown.map(({ entity }) => entity));
  past.combinations = await findCombinations(tx, scope, { ...query, entities });
  past.entityHistories = await findHistories(tx, scope, entities, query.range);
  const settledMin = settledFrom(past.windows.length);
  if (past.entityHistories.size > 0) {
    const summaries = await listSummaries(tx, scope, { key: query.summaryKey, range: query.range });
    const chosen = chooseEntities(summaries.map(({ entity }) => entity));
    const histories = await findHistories(tx, scope, chosen, query.range);
    Object.assign(
      past,
      sampleEntities(summaries, (entity) => histories.get(entity)!.windows >= settledMin),
    );
    for (const batch of splitIntoBatches([...past.sampled.union(entities)], batchSize)) {
      for (const { entity, ...novelty } of await findNovelties(tx, scope, { ...query, entities: batch }))
        appendToList(past.novelties, entity, novelty);
    }
  }
  const novelKeys = [...past.novelties.values()].flat().map(({ key }) => key);
  const keys = new Set([...unknown.map(({ key }) => key), ...novelKeys]);
  for (const batch of splitIntoBatches([...keys], batchSize)) {
    const pairs = await listEntitiesOfKeys(tx, scope, batch, query.range);
    const histories = await findHistories(tx, scope, new Set(pairs.map(({ entity }) => entity)), query.range);
    for (const [key, list] of Map.groupBy(pairs, (pair) => pair.key))
      past.entityCounts.set(key, list.filter(({ entity }) => histories.get(entity)!.windows >= settledMin).length);
  }
}

/** Returns the SQL condition that selects a scope and its recalled windows. */
export function buildMemoryCondition(
  { orgId, detectionId, generation }: MemoryScope,
  { starts, first, last }: RecallRange,
): ReturnType<typeof sql> {
  return sql`organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation}
    and window_from between ${first} and ${last} and window_from in (select unnest(${starts}::timestamptz[]))`;
}

async function findKnown(
  tx: Tx,
  scope: MemoryScope,
  pairs: readonly MemoryPair[],
  range: RecallRange,
): Promise<MemoryPair[]> {
  const { rows } = await sql<MemoryPair>`
    select key, entity from unnest(${pairs.map(({ key }) => key)}::text[], ${pairs.map(({ entity }) => entity)}::text[]) as pairs (key, entity)
    where exists (select from memory where memory.key = pairs.key and memory.entity = pairs.entity
    and ${buildMemoryCondition(scope, range)})`.execute(tx);
  return rows;
}

async function findCombinations(
  tx: Tx,
  scope: MemoryScope,
  { entities, range, summaryKey }: { entities: ReadonlySet<string>; range: RecallRange; summaryKey: string },
): Promise<RecalledMemory['combinations']> {
  const { rows } = await sql<RecalledCombination & { entity: string }>`
    select * from (
      select entity, coalesce(seen ->> 'parts', '') as parts, seen ->> 'place' as place,
        max(coalesce((seen ->> 'at')::float8, (extract(epoch from window_from) * 1000)::float8)) as at
      from memory cross join lateral (select value::jsonb as seen) as parsed
      where entity = any(${[...entities]}::text[]) and key <> ${summaryKey} and value like '{%' and ${buildMemoryCondition(scope, range)}
      group by 1, 2, 3
    ) combinations
    order by at desc, entity collate "C", parts collate "C", place collate "C" limit ${combinationsMax}`.execute(tx);
  const combinations: RecalledMemory['combinations'] = new Map();
  for (const { entity, ...combination } of rows) appendToList(combinations, entity, combination);
  return combinations;
}

type HistoryRow = { entity: string; firstSeen: number; windows: number };

async function findHistories(
  tx: Tx,
  scope: MemoryScope,
  entities: Iterable<string>,
  range: RecallRange,
): Promise<RecalledMemory['entityHistories']> {
  const histories: RecalledMemory['entityHistories'] = new Map();
  for (const batch of splitIntoBatches([...entities], batchSize)) {
    const { rows } = await sql<HistoryRow>`
      select entity, (extract(epoch from min(window_from)) * 1000)::float8 as "firstSeen", count(distinct window_from) as windows
      from memory
        where entity = any(${batch}::text[]) and ${buildMemoryCondition(scope, range)} group by entity`.execute(tx);
    for (const { entity, ...history } of rows) histories.set(entity, history);
  }
  return histories;
}

async function findNovelties(
  tx: Tx,
  scope: MemoryScope,
  { entities, range, summaryKey }: { entities: readonly string[]; range: RecallRange; summaryKey: string },
): Promise<(Novelty & { entity: string })[]> {
  const { rows } = await sql<Novelty & { entity: string }>`
    select entity, key, (extract(epoch from min(window_from)) * 1000)::float8 as at, min(nth)::integer as nth
    from (
      select entity, key, window_from, dense_rank() over (partition by entity order by window_from) as nth
      from memory where entity = any(${entities}::text[]) and key <> ${summaryKey} and ${buildMemoryCondition(scope, range)}
    ) seen
    group by entity, key
    order by 3, key collate "C"`.execute(tx);
  return rows;
}

/** Returns up to 200 entities of each key, in order. */
async function listEntitiesOfKeys(
  tx: Tx,
  scope: MemoryScope,
  keys: readonly string[],
  range: RecallRange,
): Promise<MemoryPair[]> {
  const { rows } = await sql<MemoryPair>`
    select keys.key, found.entity from unnest(${keys}::text[]) as keys (key) cross join lateral (
      select distinct entity from memory where memory.key = keys.key and ${buildMemoryCondition(scope, range)}
      order by entity limit ${countedEntitiesMax}
    ) found`.execute(tx);
  return rows;
}

/** Returns the latest 20,000 values under a key, ordered by window and entity. */
export async function listSummaries(
  tx: Tx,
  scope: MemoryScope,
  { key, range }: { key: string; range: RecallRange },
): Promise<RecalledSummary[]> {
  const { rows } = await sql<RecalledSummary>`
    select entity, (extract(epoch from window_from) * 1000)::float8 as at, value
    from memory where key = ${key} and value is not null and ${buildMemoryCondition(scope, range)}
    order by window_from desc, entity desc limit ${summariesMax}`.execute(tx);
  return rows.toReversed();
}
