import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { pairKey, type MemoryPair, type MemoryScope, type PastMemory } from './memory.ts';

/** The starts of the windows that count; all of them lie between the first and the last. */
export type Reach = { starts: Date[]; first: Date; last: Date };

const batchSize = 5_000;

/** Fills `known`, and for what is unknown `sights` and `holders`. */
export async function fillKnown(
  tx: Tx,
  scope: MemoryScope,
  query: { pairs: MemoryPair[]; reach: Reach },
  past: PastMemory,
): Promise<void> {
  for (const pairs of batches(query.pairs)) {
    for (const pair of await findKnown(tx, scope, pairs, query.reach)) past.known.add(pairKey(pair));
  }
  const unknown = query.pairs.filter((pair) => !past.known.has(pairKey(pair)));
  for (const entities of batches([...new Set(unknown.map(({ entity }) => entity))])) {
    for (const { entity, ...sight } of await findSights(tx, scope, entities, query.reach))
      past.sights.set(entity, sight);
  }
  for (const keys of batches([...new Set(unknown.map(({ key }) => key))])) {
    for (const { key, holders } of await countHolders(tx, scope, keys, query.reach)) past.holders.set(key, holders);
  }
}

/** At most 5,000 of a list at a time. */
export function batches<T>(list: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(list.length / batchSize) }, (_, n) =>
    list.slice(n * batchSize, (n + 1) * batchSize),
  );
}

/** The part of every condition that says whose memory, and which windows. */
export function inScope(
  { orgId, detectionId, generation }: MemoryScope,
  { starts, first, last }: Reach,
): ReturnType<typeof sql> {
  return sql`organization_id = ${orgId} and detection_id = ${detectionId} and generation = ${generation}
    and window_from between ${first} and ${last} and window_from in (select unnest(${starts}::timestamptz[]))`;
}

async function findKnown(
  tx: Tx,
  scope: MemoryScope,
  pairs: readonly MemoryPair[],
  reach: Reach,
): Promise<MemoryPair[]> {
  const { rows } = await sql<MemoryPair>`
    select key, entity from unnest(${pairs.map(({ key }) => key)}::text[], ${pairs.map(({ entity }) => entity)}::text[]) as asked (key, entity)
    where exists (select from memory where memory.key = asked.key and memory.entity = asked.entity and ${inScope(scope, reach)})`.execute(
    tx,
  );
  return rows;
}

type Sight = { entity: string; firstSeen: number; windows: number };

async function findSights(tx: Tx, scope: MemoryScope, entities: readonly string[], reach: Reach): Promise<Sight[]> {
  const { rows } = await sql<Sight>`
    select entity, (extract(epoch from min(window_from)) * 1000)::float8 as "firstSeen", count(distinct window_from) as windows
    from memory where entity = any(${entities}::text[]) and ${inScope(scope, reach)} group by entity`.execute(tx);
  return rows;
}

async function countHolders(
  tx: Tx,
  scope: MemoryScope,
  keys: readonly string[],
  reach: Reach,
): Promise<{ key: string; holders: number }[]> {
  const { rows } = await sql<{ key: string; holders: number }>`
    select key, count(distinct entity) as holders
    from memory where key = any(${keys}::text[]) and ${inScope(scope, reach)} group by key`.execute(tx);
  return rows;
}
