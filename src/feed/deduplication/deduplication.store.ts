import { sql } from 'kysely';
import { queryRows, type Tx, queryRow } from '../../platform/db/db.ts';
import type { Term } from '../model/terms.ts';

/** An item of a group. `duplicate_of` is its current root. */
export type RootCandidate = {
  id: string;
  added_to_feed_at: Date;
  publish_time: Date | null;
  duplicate_of: string | null;
};

// `offset 0` in a lateral subquery keeps a look-up per row, by index. Without it, a first pull scans whole tables, because the planner does not
// know yet how large they became. A pool is compared outside of such a subquery if the index of the look-up does not have it: the planner would
// combine it with an index of the pool, which reads the whole pool for each row.

/** The pool whose items are grouped, and the wider pools (those with a larger audience) whose groups they may join. */
export type PoolScope = { poolId: string; widerPoolIds: string[] };

/** The number of items that may have a value in common for the value to count as rare, that is, to distinguish one story from another. */
export const rareHoldersMax = 50;
const neighborsMax = 200;

const listPoolIds = ({ poolId, widerPoolIds: wider }: PoolScope): string[] => [poolId, ...wider];

/** A value with up to `2 * rareHoldersMax + 1` items that have it, in the order of their ids. */
export type ValueHolders = { kind: string; value: string; ids: string[] };

/** Returns whether items are compared by a term. CVEs count only for items with prose, which have a sketch. */
export const isComparedTerm = ({ kind, identifying }: Term, hasSketch: boolean): boolean =>
  identifying === true || kind === 'text' || (kind === 'cve' && hasSketch);

/** The rule of `isComparedTerm` as a condition on a row `t` of item_terms and the row `i` of its item. */
const isComparedRow = sql`(t.identifying or t.kind = 'text' or (t.kind = 'cve' and i.sketch is not null))`;

/** Returns the values that the items are compared by and that several items have. */
export function listHoldersOfItems(tx: Tx, scope: PoolScope, ids: string[]): Promise<ValueHolders[]> {
  const terms = sql`select distinct t.kind, t.value from items i cross join lateral (
      select kind, value from item_terms t where t.item_id = i.id
        and ${isComparedRow} offset 0) t
    where i.id = any(${ids}::uuid[])`;
  return listHolders(tx, scope, terms);
}

/** Returns the holders of terms that items no longer have and that several others still have. */
export function listHoldersOfTerms(
  tx: Tx,
  scope: PoolScope,
  terms: { kind: string; value: string }[],
): Promise<ValueHolders[]> {
  const [kinds, values] = [terms.map(({ kind }) => kind), terms.map(({ value }) => value)];
  const removed = sql`select * from unnest(${kinds}::text[], ${values}::text[]) as removed (kind, value)`;
  return listHolders(tx, scope, removed);
}

async function listHolders(tx: Tx, scope: PoolScope, terms: ReturnType<typeof sql>): Promise<ValueHolders[]> {
  // The ids are one text, because the driver parses arrays character by character.
  const rows = await queryRows<{ kind: string; value: string; ids: string }>(tx)`
      with mine (kind, value) as materialized (${terms}), held as materialized (
        select mine.kind, mine.value, array_to_string(array(
          select h.item_id from unnest(${listPoolIds(scope)}::uuid[]) as pool (id) cross join lateral (
            select t.item_id from item_terms t where t.kind = mine.kind and t.value = mine.value and t.pool_id = pool.id
            order by t.item_id limit ${2 * rareHoldersMax + 1}
          ) h order by h.item_id limit ${2 * rareHoldersMax + 1}
        ), ' ') as ids
        from mine
        -- Most values of a pull have one holder, which this finds out with a single look at the index.
        where (select count(*) from (select from item_terms t where t.kind = mine.kind and t.value = mine.value
          and t.pool_id = any(${listPoolIds(scope)}::uuid[]) limit 2) few) > 1
      )
      select kind, value, ids from held`;
  return rows.map(({ kind, value, ids }) => ({ kind, value, ids: ids.split(' ') }));
}

export type ComparisonRow = RootCandidate & {
  pool_id: string;
  status: string;
  publisher: string;
  sketch: string | null;
  identifying: number;
  canonical_key: string;
  order_key: string;
};

/** Returns items with the traits by which they are compared. `order_key` orders them independently of their arrival. */
export function listComparisonRows(tx: Tx, scope: PoolScope, ids: string[]): Promise<ComparisonRow[]> {
  return queryRows<ComparisonRow>(tx)`
      select id, pool_id, status, publisher, publish_time, added_to_feed_at, sketch, identifying, duplicate_of, canonical_key,
        concat_ws(' ', canonical_key, publisher, to_char(publish_time, 'YYYY-MM-DD"T"HH24:MI:SS'), source_name, record_id, generation) as order_key
      from items where id = any(${ids}::uuid[]) and pool_id = any(${listPoolIds(scope)}::uuid[])`;
}

/** The CVEs, malware, actors and products of an item, each as kind and value separated by a space. */
type ItemNamesRow = { id: string; names: string[] };

export function listItemNames(tx: Tx, ids: string[]): Promise<ItemNamesRow[]> {
  return queryRows<ItemNamesRow>(tx)`
      select i.id, array(select t.kind || ' ' || t.value from item_terms t
        where t.item_id = i.id and t.kind in ('cve', 'malware', 'actor', 'product')) as names
      from unnest(${ids}::uuid[]) as i (id)`;
}

export type ItemLinkRow = { a: string; b: string; weight: number };

/** Replaces the links of items. Returns the ids of the previously linked items. */
export async function replaceLinks(tx: Tx, poolId: string, ids: string[], links: ItemLinkRow[]): Promise<string[]> {
  const deleted = await queryRows<{ a: string; b: string }>(tx)`
      delete from item_links where pool_id = ${poolId} and (a = any(${ids}::uuid[]) or b = any(${ids}::uuid[])) returning a, b`;
  if (links.length > 0)
    await sql`
    insert into item_links (pool_id, a, b, weight)
    select ${poolId}, least(n.a, n.b), greatest(n.a, n.b), n.weight
    from unnest(${links.map(({ a }) => a)}::uuid[], ${links.map(({ b }) => b)}::uuid[], ${links.map(({ weight }) => weight)}::real[])
      as n (a, b, weight) on conflict do nothing`.execute(tx);
  return deleted.flatMap(({ a, b }) => [a, b]);
}

/** A new item that has no value by which it could be linked. Only its key and its aliases can connect it with other items. */
export type UnlinkableItem = { id: string; canonicalKey: string; aliases: string[] };

/** Returns the keys and aliases of new items that another item has too. */
export async function listSharedIdentities(
  tx: Tx,
  scope: PoolScope,
  items: UnlinkableItem[],
): Promise<{ keys: Set<string>; aliases: Set<string> }> {
  const [keys, aliases] = [items.map(({ canonicalKey }) => canonicalKey), items.flatMap((item) => item.aliases)];
  const pools = listPoolIds(scope);
  const shared = await queryRows<{ is_key: boolean; value: string }>(tx)`
      select true as is_key, value from unnest(${keys}::text[]) as mine (value)
      where (select count(*) from (select from items i where i.canonical_key = mine.value and i.pool_id = any(${pools}::uuid[]) limit 2) few) > 1
      union all
      select false, value from unnest(${aliases}::text[]) as mine (value)
      where (select count(*) from (select from item_terms t where t.kind = 'alias' and t.value = mine.value
        and t.pool_id = any(${pools}::uuid[]) limit 2) few) > 1`;
  const valuesOf = (isKey: boolean): Set<string> =>
    new Set(shared.flatMap(({ is_key, value }) => (is_key === isKey ? [value] : [])));
  return { keys: valuesOf(true), aliases: valuesOf(false) };
}

/** Returns items connected with these by a link, a decision, an equal key or a shared alias, and the current members of their groups. */
export async function listNeighbors(tx: Tx, scope: PoolScope, ids: string[]): Promise<string[]> {
  const pools = listPoolIds(scope);
  const found = await queryRows<{ id: string }>(tx)`
      with mine as materialized (select id, canonical_key, duplicate_of from items where id = any(${ids}::uuid[]))
      select case when l.a = mine.id then l.b else l.a end as id from mine join item_links l on l.pool_id = ${scope.poolId} and l.a = mine.id
      union select l.a from mine join item_links l on l.pool_id = ${scope.poolId} and l.b = mine.id
      union select d.b from mine join item_decisions d on d.pool_id = ${scope.poolId} and d.a = mine.id
      union select d.a from mine join item_decisions d on d.pool_id = ${scope.poolId} and d.b = mine.id
      union select near.id from mine cross join lateral (select i.id from items i where i.canonical_key = mine.canonical_key
        and i.pool_id = any(${pools}::uuid[]) and i.status <> 'retracted' limit ${neighborsMax}) near
      union select near.item_id from mine cross join lateral (
        select value from item_terms t where t.item_id = mine.id and t.kind = 'alias' offset 0) t cross join lateral (
        select o.item_id from item_terms o where o.kind = 'alias' and o.value = t.value and o.pool_id = any(${pools}::uuid[]) limit ${neighborsMax}) near
      union select duplicate_of from mine where duplicate_of is not null
      union select member.id from mine cross join lateral (select i.id, i.pool_id from items i
        where i.duplicate_of in (mine.id, mine.duplicate_of) offset 0) member where member.pool_id = ${scope.poolId}`;
  return found.map(({ id }) => id);
}

/** Returns the links, decisions and shared aliases among items. */
export async function listTies(tx: Tx, scope: PoolScope, ids: string[]) {
  const query = sql<ItemLinkRow>`select a, b, weight from item_links where pool_id = ${scope.poolId} and a = any(${ids}::uuid[])`;
  const links = await queryRows(tx, query);
  const decisions = await queryRows<{ a: string; b: string; verdict: 'together' | 'apart' }>(tx)`
      select a, b, verdict from item_decisions where pool_id = ${scope.poolId} and a = any(${ids}::uuid[])`;
  const aliases = await queryRows<{ value: string; ids: string[] }>(tx)`
      select value, array_agg(item_id)::text[] as ids from item_terms where kind = 'alias' and item_id = any(${ids}::uuid[])
      group by value having count(*) > 1`;
  return { links, decisions, aliases };
}

/** An item of a group. `own_doc` is the document without the figures of the group, if that differs from `doc`. */
export type GroupedItemRow = {
  id: string;
  pool_id: string;
  /** The kind of the item's source; null for a posted text. */
  kind: string | null;
  doc: string;
  own_doc: string | null;
  duplicate_of: string | null;
  severity: string;
  status: string;
  publisher: string;
  source_name: string;
  platforms: string[];
  version: number;
  last_updated: Date;
};

export function listGroupedItemRows(tx: Tx, ids: string[]): Promise<GroupedItemRow[]> {
  return queryRows<GroupedItemRow>(tx)`
      select i.id, i.pool_id, s.kind, i.doc, i.own_doc, i.duplicate_of, i.severity, i.status, i.publisher, i.source_name, i.platforms, i.version,
        i.last_updated
      from items i left join feed_sources s on s.id = i.source_id where i.id = any(${ids}::uuid[])`;
}

/** The part of an organization's override of an item that decides its group. */
export type GroupOverrideRow = {
  item_id: string;
  status: string | null;
  note: string | null;
  stands_apart: boolean;
  merged_into: string | null;
  moved: boolean;
  duplicate_of: string | null;
};

const columns = sql`item_id, status, note, stands_apart, merged_into, moved, duplicate_of`;

export function findGroupOverride(tx: Tx, orgId: string, itemId: string): Promise<GroupOverrideRow | undefined> {
  const query = sql<GroupOverrideRow>`select ${columns} from feed_overrides where organization_id = ${orgId} and item_id = ${itemId}`;
  return queryRow(tx, query);
}

/** Returns all overrides of an organization. There are few, because a person writes each of them. */
export function listGroupOverrides(tx: Tx, orgId: string): Promise<GroupOverrideRow[]> {
  return queryRows<GroupOverrideRow>(tx)`select ${columns} from feed_overrides where organization_id = ${orgId}`;
}

export type VisibleItem = RootCandidate & { status: string };

const groupItemsMax = 20_000;

/** Returns all items of the shared groups of these items that the organization sees. */
export function listVisibleGroups(tx: Tx, orgId: string, ids: string[]): Promise<VisibleItem[]> {
  return queryRows<VisibleItem>(tx)`
      with roots as materialized (select distinct coalesce(duplicate_of, id) as id from items where id = any(${ids}::uuid[])),
      mine as materialized (select id from feed_pools where kind = 'public' or organization_id = ${orgId} or (kind = 'assigned' and ${orgId}::uuid = any(assigned_to)))
      select i.id, i.status, i.duplicate_of, i.added_to_feed_at, i.publish_time from items i
      where (i.id in (select id from roots) or i.duplicate_of in (select id from roots)) and i.pool_id in (select id from mine)
      limit ${groupItemsMax}`;
}

/** Overrides that can change the group of an item. */
const changesGroup = sql`(status = 'retracted' or stands_apart or merged_into is not null or moved)`;

/** Returns the organizations whose overrides change the group of one of these items, merge into it, or make it a root. Locks their private pools. */
export function listOrgsWithGroupOverrides(tx: Tx, ids: string[]): Promise<{ org_id: string; pool_id: string }[]> {
  return queryRows<{ org_id: string; pool_id: string }>(tx)`
      select p.organization_id as org_id, p.id as pool_id from feed_pools p
      where p.kind = 'private' and p.organization_id in (
        select organization_id from feed_overrides where item_id = any(${ids}::uuid[]) and ${changesGroup}
        union select organization_id from feed_overrides where merged_into = any(${ids}::uuid[])
        union select organization_id from feed_overrides where duplicate_of = any(${ids}::uuid[]))
      order by p.id for no key update`;
}
