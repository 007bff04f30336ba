import { queryRows, type Tx } from '../../platform/db/db.ts';
import { nilId } from '../../platform/lib/ids.ts';
import type { FeedItem } from '../../feed/model/item.schema.ts';
import type { PoolPosition } from './sightings.store.ts';

/** The last swept position of each pool: the item's sequence number and ID. */
export type SweepCursor = Record<string, [seq: number, itemId: string]>;

type SweepBatch = { items: FeedItem[]; cursor: SweepCursor };
type BatchOptions = {
  pools: PoolPosition[];
  cursor: SweepCursor | undefined;
  /** Returns the number of indicators to search for. */
  weigh: (item: FeedItem) => number;
};

const itemsMax = 50;
const weightMax = 1_000;
const lastId = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/**
 * Returns the items after the cursor in the order of their last change, and the cursor of the next batch. Without a cursor it returns no items
 * and the end of every pool, so that existing items are skipped. A batch has at most 50 items and a total weight of 1,000, but at least one item.
 */
export async function readSweepBatch(tx: Tx, { pools, cursor, weigh }: BatchOptions): Promise<SweepBatch> {
  const ends: SweepCursor = Object.fromEntries(pools.map(({ id, seq }) => [id, [seq, lastId]]));
  if (!cursor) return { items: [], cursor: ends };
  const next: SweepCursor = Object.fromEntries(pools.map(({ id }) => [id, cursor[id] ?? [0, nilId]]));
  const items: FeedItem[] = [];
  let weight = 0;
  for (const pool of pools) {
    const { id, seq } = pool;
    const position = next[id]!;
    const limit = itemsMax - items.length;
    if ((position[0] >= seq && position[1] === lastId) || limit === 0) continue;
    const rows = await listItemsAfter(tx, pool, position, limit);
    for (const row of rows) {
      const item = JSON.parse(row.doc) as FeedItem;
      const itemWeight = weigh(item);
      if (weight > 0 && weight + itemWeight > weightMax) return { items, cursor: next };
      weight += itemWeight;
      items.push(item);
      next[id] = [row.seq, row.id];
    }
    if (rows.length < limit) next[id] = [seq, lastId];
  }
  return { items, cursor: next };
}

/**
 * Lists items of a pool that changed. Those that a person has overridden changed in the organization's private pool, also when the override no longer
 * changes their indicators.
 */
const listItemsAfter = (tx: Tx, pool: PoolPosition, [seq, itemId]: SweepCursor[string], limit: number) =>
  queryRows<{ id: string; seq: number; doc: string }>(tx)`
      (select id, seq, doc from items
      where pool_id = ${pool.id} and seq <= ${pool.seq} and seq >= ${seq} and (seq, id) > (${seq}, ${itemId}::uuid)
      order by seq, id limit ${limit})
      union all
      (select i.id, o.seq, i.doc from feed_overrides o join items i on i.id = o.item_id
      where o.organization_id = tocsin_org() and (o.status = 'retracted' or o.indicators is not null or o.updated_by is not null or o.actor is not null)
        and o.seq <= ${pool.seq} and o.seq >= ${seq} and (o.seq, i.id) > (${seq}, ${itemId}::uuid)
        and exists (select from feed_pools where id = ${pool.id} and kind = 'private' and organization_id = tocsin_org())
      order by o.seq, i.id limit ${limit})
      order by seq, id limit ${limit}`;
