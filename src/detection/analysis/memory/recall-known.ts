import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import {
  buildPairKey,
  settledWindows,
  type MemoryPair,
  type MemoryScope,
  type MemoryWindow,
  type RecalledMemory,
} from './memory.ts';
import { appendToList } from './recall.ts';

/** The starts of the recalled windows, with the first and the last. */
export type RecallRange = { starts: Date[]; first: Date; last: Date };

const batchSize = 5_000;

/** Fills `known`, and `entityHistories` and `entityCounts` for the unknown pairs. */
export async function fillKnown(
  tx: Tx,
  scope: MemoryScope,
  query: { pairs: MemoryPair[]; range: RecallRange; novelty: MemoryWindow },
  past: RecalledMemory,
): Promise<void> {
  for (const pairs of splitIntoBatches(query.pairs)) {
    for (const pair of await findKnown(tx, scope, pairs, query.range)) past.known.add(buildPairKey(pair));
  }
  const unknown = query.pairs.filter((pair) => !past.known.has(buildPairKey(pair)));
  for (const entities of splitIntoBatches([...new Set(unknown.map(({ entity }) => entity))])) {
    for (const { entity, ...history } of await findHistories(tx, scope, entities, query.range))
      past.entityHistories.set(entity, history);
  }
  for (const entities of splitIntoBatches([...new Set(unknown.map(({ entity }) => entity))])) {
    for (const { entity, key, at } of await findNovelties(tx, scope, { ...query, entities }))
      appendToList(past.novelties, entity, { key, at });
  }
  const novelKeys = [...past.novelties.values()].flat().map(({ key }) => key);
  for (const keys of splitIntoBatches([...new Set([...unknown.map(({ key }) => key), ...novelKeys])])) {
    for (const { key, count } of await countEntities(tx, scope, keys, query.range)) past.entityCounts.set(key, count);
  }
}

/** Splits a list into batches of at most 5,000. */
export function splitIntoBatches<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / batchSize) }, (_, n) =>
    list.slice(n * batchSize, (n + 1) * batchSize),
  );
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
    where exists (select from memory where memory.key = pairs.key and memory.entity = pairs.entity and ${buildMemoryCondition(scope, range)})`.execute(
    tx,
  );
  return rows;
}

type HistoryRow = { entity: string; firstSeen: number; windows: number };

async function findHistories(
  tx: Tx,
  scope: MemoryScope,
  entities: readonly string[],
  range: RecallRange,
): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    select entity, (extract(epoch from min(window_from)) * 1000)::float8 as "firstSeen", count(distinct window_from) as windows
    from memory where entity = any(${entities}::text[]) and ${buildMemoryCondition(scope, range)} group by entity`.execute(
    tx,
  );
  return rows;
}

async function findNovelties(
  tx: Tx,
  scope: MemoryScope,
  { entities, range, novelty }: { entities: readonly string[]; range: RecallRange; novelty: MemoryWindow },
): Promise<{ entity: string; key: string; at: number }[]> {
  const { rows } = await sql<{ entity: string; key: string; at: number }>`
    select entity, key, (extract(epoch from min(window_from)) * 1000)::float8 as at
    from (
      select entity, key, window_from, dense_rank() over (partition by entity order by window_from) as nth
      from memory where entity = any(${entities}::text[]) and ${buildMemoryCondition(scope, range)}
    ) seen
    group by entity, key
    having min(window_from) >= ${novelty.from} and min(window_from) < ${novelty.to} and min(nth) > ${settledWindows}
    order by 3, key collate "C"`.execute(tx);
  return rows;
}

async function countEntities(
  tx: Tx,
  scope: MemoryScope,
  keys: readonly string[],
  range: RecallRange,
): Promise<{ key: string; count: number }[]> {
  const { rows } = await sql<{ key: string; count: number }>`
    select key, count(distinct entity) as count
    from memory where key = any(${keys}::text[]) and ${buildMemoryCondition(scope, range)} group by key`.execute(tx);
  return rows;
}
