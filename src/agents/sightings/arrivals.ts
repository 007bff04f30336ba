import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { PoolAt } from './sightings.store.ts';

/** How far each pool was looked through: sequence number and item. */
export type Cursor = Record<string, [seq: number, itemId: string]>;

const itemsMax = 50;
const weightMax = 1_000;
const [firstId, lastId] = ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'];

/**
 * The next items behind a cursor, in the order of their last change, and the cursor behind them. Without a cursor it is put to the end: what
 * the feed held before is not looked for. A batch ends before its `weight` is more than 1,000, or holds one item.
 */
export async function listArrived(
  tx: Tx,
  { pools, cursor, weigh }: { pools: PoolAt[]; cursor: Cursor | undefined; weigh: (item: FeedItem) => number },
): Promise<{ items: FeedItem[]; cursor: Cursor }> {
  const ends = Object.fromEntries(pools.map(({ id, seq }): [string, Cursor[string]] => [id, [seq, lastId]]));
  if (!cursor) return { items: [], cursor: ends };
  const next: Cursor = Object.fromEntries(pools.map(({ id }) => [id, cursor[id] ?? [0, firstId]]));
  const items: FeedItem[] = [];
  let weight = 0;
  for (const pool of pools) {
    const { id, seq } = pool;
    const [from, limit] = [next[id]!, itemsMax - items.length];
    if ((from[0] >= seq && from[1] === lastId) || limit === 0) continue;
    const found = await listBehind(tx, pool, from, limit);
    for (const row of found) {
      const item = JSON.parse(row.doc) as FeedItem;
      const more = weigh(item);
      if (weight > 0 && weight + more > weightMax) return { items, cursor: next };
      weight += more;
      items.push(item);
      next[id] = [row.seq, row.id];
    }
    if (found.length < limit) next[id] = [seq, lastId];
  }
  return { items, cursor: next };
}

const listBehind = (tx: Tx, pool: PoolAt, [seq, itemId]: Cursor[string], limit: number) =>
  rows(
    tx,
    sql<{ id: string; seq: number; doc: string }>`
      select id, seq, doc from items
      where pool_id = ${pool.id} and seq <= ${pool.seq} and seq >= ${seq} and (seq, id) > (${seq}, ${itemId}::uuid)
      order by seq, id limit ${limit}`,
  );
