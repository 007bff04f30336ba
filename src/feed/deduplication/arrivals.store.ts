import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { publicPoolId } from '../items/writing/feed-pools.store.ts';

const holdersMax = 1_000;

/** `countMax` items, and as many as have documents of `bytesMax` bytes together, but at least one. */
type ClaimBounds = { countMax: number; bytesMax: number };

/** Returns queued items of one pool, the public pool first, and locks them until the transaction ends. */
export async function claimArrivals(
  tx: Tx,
  { countMax, bytesMax }: ClaimBounds,
): Promise<{ poolId: string | undefined; ids: string[] }> {
  const found = await queryRows<{ id: string; pool_id: string }>(tx)`
      with claimed as materialized (
        select item_id, pool_id from item_arrivals
        where pool_id = coalesce((select pool_id from item_arrivals where pool_id = ${publicPoolId} limit 1), (select pool_id from item_arrivals limit 1))
        order by item_id limit ${countMax} for update skip locked
      ),
      weighed as (
        select c.item_id, c.pool_id, sum(octet_length(i.doc)) over (order by c.item_id) - octet_length(i.doc) as bytes_before
        from claimed c left join items i on i.id = c.item_id
      )
      select item_id as id, pool_id from weighed where bytes_before is null or bytes_before < ${bytesMax} order by item_id`;
  return { poolId: found[0]?.pool_id, ids: found.map(({ id }) => id) };
}

/** Returns whether items of any pool are queued. */
export const hasArrivals = async (tx: Tx): Promise<boolean> =>
  (await queryRow<{ item_id: string }>(tx)`select item_id from item_arrivals limit 1`) !== undefined;

export async function deleteArrivals(tx: Tx, poolId: string, ids: string[]): Promise<void> {
  await sql`delete from item_arrivals where pool_id = ${poolId} and item_id = any(${ids}::uuid[])`.execute(tx);
}

/** Queues items of a pool. Items of the public pool are queued only if other pools have items, because otherwise nothing depends on them. */
export async function insertArrivals(tx: Tx, poolId: string, ids: string[]): Promise<void> {
  await sql`
    insert into item_arrivals (item_id, pool_id) select id, ${poolId} from unnest(${ids}::uuid[]) as n (id)
    where ${poolId}::uuid <> ${publicPoolId} or exists (select from feed_pools where kind <> 'public' and seq > 0)
    order by id
    on conflict do nothing`.execute(tx);
}

/** Queues items of narrower pools that point at these public items, are linked with them, or share a key, an alias or a rare value with them. */
export async function insertNeighborArrivals(tx: Tx, ids: string[]): Promise<void> {
  await sql`
    with mine as materialized (select id, canonical_key from items where id = any(${ids}::uuid[])),
    near as (
      select i.id, i.pool_id from mine join items i on i.duplicate_of = mine.id
      union select i.id, i.pool_id from mine join items i on i.canonical_key = mine.canonical_key
      union select i.id, i.pool_id from mine join item_links l on l.a = mine.id join items i on i.id = l.b
      union select i.id, i.pool_id from mine join item_links l on l.b = mine.id join items i on i.id = l.a
      union select holder.item_id, holder.pool_id
        from (select distinct t.kind, t.value from item_terms t where t.item_id = any(${ids}::uuid[]) and (t.identifying or t.kind in ('cve', 'text', 'alias'))) as term
        cross join lateral (
          select h.item_id, h.pool_id from item_terms h where h.kind = term.kind and h.value = term.value and h.pool_id <> ${publicPoolId}
            and (h.identifying or h.kind <> 'indicator') limit ${holdersMax}
        ) holder
    )
    insert into item_arrivals (item_id, pool_id) select id, pool_id from near where pool_id <> ${publicPoolId} order by id
    on conflict do nothing`.execute(tx);
}
