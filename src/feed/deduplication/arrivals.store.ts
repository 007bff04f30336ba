import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { publicPool } from '../items/writing/feed-pools.store.ts';

const nearMax = 1_000;

/** Items of one pool that wait, held until the transaction ends; those of the public pool first. */
export async function claimArrivals(tx: Tx, limit: number): Promise<{ poolId: string | undefined; ids: string[] }> {
  const found = await rows(
    tx,
    sql<{ id: string; pool_id: string }>`
      select item_id as id, pool_id from item_arrivals
      where pool_id = coalesce((select pool_id from item_arrivals where pool_id = ${publicPool} limit 1), (select pool_id from item_arrivals limit 1))
      order by item_id limit ${limit} for update skip locked`,
  );
  return { poolId: found[0]?.pool_id, ids: found.map(({ id }) => id) };
}

export async function dropArrivals(tx: Tx, ids: string[]): Promise<void> {
  await sql`delete from item_arrivals where item_id = any(${ids}::uuid[])`.execute(tx);
}

/** Notes what in narrower pools points at these public items, was linked with them, or has a key, an alias or a rare value of theirs. */
export async function noteNeighbours(tx: Tx, ids: string[]): Promise<void> {
  await sql`
    with mine as materialized (select id, canonical_key from items where id = any(${ids}::uuid[])),
    near as (
      select i.id, i.pool_id from mine join items i on i.duplicate_of = mine.id
      union select i.id, i.pool_id from mine join items i on i.canonical_key = mine.canonical_key
      union select i.id, i.pool_id from mine join item_links l on l.a = mine.id join items i on i.id = l.b
      union select i.id, i.pool_id from mine join item_links l on l.b = mine.id join items i on i.id = l.a
      union select held.item_id, held.pool_id
        from (select distinct t.kind, t.value from item_terms t where t.item_id = any(${ids}::uuid[]) and (t.identifying or t.kind in ('cve', 'text', 'alias'))) as term
        cross join lateral (
          select h.item_id, h.pool_id from item_terms h where h.kind = term.kind and h.value = term.value and h.pool_id <> ${publicPool}
            and (h.identifying or h.kind <> 'indicator') limit ${nearMax}
        ) held
    )
    insert into item_arrivals (item_id, pool_id) select id, pool_id from near where pool_id <> ${publicPool} order by id
    on conflict (item_id) do nothing`.execute(tx);
}
