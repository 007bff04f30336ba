import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';

/** The pool whose items are put in order, and those of a wider audience that they may join. */
export type Universe = { poolId: string; wider: string[] };

/** So many items may hold a value that still tells one story from another. */
export const rareMax = 50;
const partnersMax = 200;

const poolsOf = ({ poolId, wider }: Universe): string[] => [poolId, ...wider];

/** A value that items are found by, with up to twice `rareMax` items that hold it, the oldest first. */
export type Holders = { kind: string; value: string; ids: string[] };

/** What the items are compared by. A CVE leads to others only where a text is told of it. */
export function listHolders(tx: Tx, universe: Universe, ids: string[]): Promise<Holders[]> {
  return holdersOf(
    tx,
    universe,
    sql`select distinct t.kind, t.value from item_terms t join items i on i.id = t.item_id
        where t.item_id = any(${ids}::uuid[]) and (t.identifying or t.kind = 'text' or (t.kind = 'cve' and i.sketch is not null))`,
  );
}

/** The same for values that items no longer have. */
export function listHoldersOf(
  tx: Tx,
  universe: Universe,
  terms: { kind: string; value: string }[],
): Promise<Holders[]> {
  const [kinds, values] = [terms.map(({ kind }) => kind), terms.map(({ value }) => value)];
  return holdersOf(tx, universe, sql`select * from unnest(${kinds}::text[], ${values}::text[]) as gone (kind, value)`);
}

function holdersOf(tx: Tx, universe: Universe, terms: ReturnType<typeof sql>): Promise<Holders[]> {
  return rows(
    tx,
    sql<Holders>`
      with mine (kind, value) as materialized (${terms})
      select mine.kind, mine.value, array(
        select h.item_id from unnest(${poolsOf(universe)}::uuid[]) as pool (id) cross join lateral (
          select t.item_id from item_terms t where t.kind = mine.kind and t.value = mine.value and t.pool_id = pool.id
          order by t.item_id limit ${2 * rareMax + 1}
        ) h order by h.item_id limit ${2 * rareMax + 1}
      )::text[] as ids
      from mine`,
  );
}

export type FactsRow = {
  id: string;
  pool_id: string;
  status: string;
  publisher: string;
  publish_time: Date | null;
  added_to_feed_at: Date;
  sketch: string | null;
  identifying: number;
  duplicate_of: string | null;
  canonical_key: string;
  order_key: string;
};

/** Items as they are compared and ordered; `order_key` does not depend on when they came. */
export function listFacts(tx: Tx, universe: Universe, ids: string[]): Promise<FactsRow[]> {
  return rows(
    tx,
    sql<FactsRow>`
      select id, pool_id, status, publisher, publish_time, added_to_feed_at, sketch, identifying, duplicate_of, canonical_key,
        concat_ws(' ', canonical_key, publisher, to_char(publish_time, 'YYYY-MM-DD"T"HH24:MI:SS'), source_name, record_id, generation) as order_key
      from items where id = any(${ids}::uuid[]) and pool_id = any(${poolsOf(universe)}::uuid[])`,
  );
}

export type SharedNames = { a: string; b: string; names: number; flaw: boolean };

/** What pairs share by name, whether rare or not. */
export function listSharedNames(tx: Tx, pairs: { a: string; b: string }[]): Promise<SharedNames[]> {
  return rows(
    tx,
    sql<SharedNames>`
      select p.a, p.b, count(*) filter (where x.kind <> 'product') as names,
        bool_or(x.kind = 'cve') and bool_or(x.kind = 'product') as flaw
      from unnest(${pairs.map(({ a }) => a)}::uuid[], ${pairs.map(({ b }) => b)}::uuid[]) as p (a, b)
      join item_terms x on x.item_id = p.a and x.kind in ('cve', 'malware', 'actor', 'product')
      join item_terms y on y.item_id = p.b and y.kind = x.kind and y.value = x.value
      group by p.a, p.b`,
  );
}

export type LinkRow = { a: string; b: string; weight: number };

/** Puts the links that these items have now in the place of those that they had; answers whom they were linked with. */
export async function replaceLinks(tx: Tx, poolId: string, ids: string[], links: LinkRow[]): Promise<string[]> {
  const old = await rows(
    tx,
    sql<{ a: string; b: string }>`
      delete from item_links where pool_id = ${poolId} and (a = any(${ids}::uuid[]) or b = any(${ids}::uuid[])) returning a, b`,
  );
  await sql`
    insert into item_links (pool_id, a, b, weight)
    select ${poolId}, least(n.a, n.b), greatest(n.a, n.b), n.weight
    from unnest(${links.map(({ a }) => a)}::uuid[], ${links.map(({ b }) => b)}::uuid[], ${links.map(({ weight }) => weight)}::real[])
      as n (a, b, weight) on conflict do nothing`.execute(tx);
  return old.flatMap(({ a, b }) => [a, b]);
}

/** Items next to these: by a link, a decision, an equal key, a shared alias, or in one group with them now. */
export async function listNeighbours(tx: Tx, universe: Universe, ids: string[]): Promise<string[]> {
  const pools = poolsOf(universe);
  const found = await rows(
    tx,
    sql<{ id: string }>`
      with mine as materialized (select id, canonical_key, duplicate_of from items where id = any(${ids}::uuid[]))
      select case when l.a = mine.id then l.b else l.a end as id from mine join item_links l on l.pool_id = ${universe.poolId} and l.a = mine.id
      union select l.a from mine join item_links l on l.pool_id = ${universe.poolId} and l.b = mine.id
      union select d.b from mine join item_decisions d on d.pool_id = ${universe.poolId} and d.a = mine.id
      union select d.a from mine join item_decisions d on d.pool_id = ${universe.poolId} and d.b = mine.id
      union select near.id from mine cross join lateral (select i.id from items i where i.canonical_key = mine.canonical_key
        and i.pool_id = any(${pools}::uuid[]) and i.status <> 'retracted' limit ${partnersMax}) near
      union select near.item_id from mine join item_terms t on t.item_id = mine.id and t.kind = 'alias' cross join lateral (
        select o.item_id from item_terms o where o.kind = 'alias' and o.value = t.value and o.pool_id = any(${pools}::uuid[]) limit ${partnersMax}) near
      union select duplicate_of from mine where duplicate_of is not null
      union select i.id from mine join items i on i.duplicate_of = mine.id and i.pool_id = ${universe.poolId}
      union select i.id from mine join items i on i.duplicate_of = mine.duplicate_of and i.pool_id = ${universe.poolId}`,
  );
  return found.map(({ id }) => id);
}

/** What holds among items: links by the rules, decisions, and aliases that several of them have. */
export async function listTies(
  tx: Tx,
  universe: Universe,
  ids: string[],
): Promise<{
  links: LinkRow[];
  decisions: { a: string; b: string; verdict: 'together' | 'apart' }[];
  aliases: { value: string; ids: string[] }[];
}> {
  const links = await rows(
    tx,
    sql<LinkRow>`select a, b, weight from item_links where pool_id = ${universe.poolId} and a = any(${ids}::uuid[])`,
  );
  const decisions = await rows(
    tx,
    sql<{ a: string; b: string; verdict: 'together' | 'apart' }>`
      select a, b, verdict from item_decisions where pool_id = ${universe.poolId} and a = any(${ids}::uuid[])`,
  );
  const aliases = await rows(
    tx,
    sql<{ value: string; ids: string[] }>`
      select value, array_agg(item_id)::text[] as ids from item_terms where kind = 'alias' and item_id = any(${ids}::uuid[])
      group by value having count(*) > 1`,
  );
  return { links, decisions, aliases };
}
