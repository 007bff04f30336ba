import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import { publicPool } from '../items/writing/feed-pools.store.ts';
import type { FeedItem } from '../model/item.schema.ts';
import { settleDecided } from '../curation/recompute-overrides.ts';
import type { Gone } from './link-items.ts';
import { settleItems } from './recompute-groups.ts';
import type { Universe } from './deduplication.store.ts';

type Written = { id: string; poolId: string };

/** An item may belong to one of its own pool or of the public one: a root is visible to everyone who sees the member. */
export const universeOf = (poolId: string): Universe => ({ poolId, wider: poolId === publicPool ? [] : [publicPool] });

/**
 * Puts what a transaction wrote in order, pool by pool, and notes it for the look at the other pools that follows. The pools are locked.
 * Answers the documents that are others now.
 */
export async function settlePools(
  tx: Tx,
  written: Written[],
  given: { gone: Gone; at: Date; seqByPool: ReadonlyMap<string, number> },
): Promise<Map<string, string>> {
  const documents = new Map<string, string>();
  for (const [poolId, items] of Map.groupBy(written, (item) => item.poolId)) {
    const settling = { universe: universeOf(poolId), at: given.at, seq: given.seqByPool.get(poolId)! };
    const ids = [...new Set(items.map(({ id }) => id))];
    const changed = await settleItems(tx, settling, ids, given.gone);
    for (const [id, doc] of changed) documents.set(id, doc);
    // Those that have another root now may have narrower ones pointing at them.
    await noteArrivals(tx, poolId, [...new Set([...ids, ...changed.keys()])]);
  }
  const roots = [...documents.values()].flatMap((doc) => (JSON.parse(doc) as FeedItem).duplicateOf ?? []);
  const ids = [...new Set([...written.map(({ id }) => id), ...documents.keys(), ...roots])];
  await settleDecided(tx, ids, { at: given.at, moving: new Set(given.seqByPool.keys()) });
  return documents;
}

/** Where nobody has a pool of their own there is nothing to be looked at later. */
async function noteArrivals(tx: Tx, poolId: string, ids: string[]): Promise<void> {
  await sql`
    insert into item_arrivals (item_id, pool_id) select id, ${poolId} from unnest(${ids}::uuid[]) as n (id)
    where ${poolId}::uuid <> ${publicPool} or exists (select from feed_pools where kind <> 'public' and seq > 0)
    order by id
    on conflict (item_id) do nothing`.execute(tx);
}
