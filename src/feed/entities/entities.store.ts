import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { withCtes, type Condition, visiblePoolIds } from '../items/snapshot/query.sql.ts';
import { searchCtes, type SearchOptions } from '../items/search/search-query.sql.ts';
import { withSearchLimits } from '../items/search/search.store.ts';
import type { Snapshot } from '../items/snapshot/snapshot.ts';
import type { EntityType } from './entities.schema.ts';

/** The position and filter of a list: it continues after `after`, with values that begin with `prefix` and the values in `exact`. */
export type EntityFilter = { type: EntityType; after: string; prefix: string; exact: string[]; limit: number };

/** The kind of a type in `item_terms`. */
export const termKind = (type: EntityType): 'actor' | 'malware' | 'tool' | 'cve' =>
  type === 'vulnerability' ? 'cve' : type;

/** The condition of the index `item_terms_entities`. */
const isListed: Condition = sql`t.entity is not null and t.standing is null`;

export type EntityRow = { value: string; name: string; items: number; firstSeen: Date; lastSeen: Date };

/**
 * Returns visible entities of a type by value. The names are read by skipping from one to the next in the index, so the cost does not depend
 * on how many items contain them.
 */
export async function listEntityRows(
  tx: Tx,
  { type, after, prefix, exact, limit }: EntityFilter,
): Promise<EntityRow[]> {
  const kind = termKind(type);
  const next = (last: ReturnType<typeof sql>) => sql`
    select t.value from item_terms t
    where t.kind = ${kind} and ${isListed} and t.value collate "C" > ${last} and t.value collate "C" >= ${prefix}
      and t.value collate "C" < ${`${prefix}\u{10FFFF}`} and t.pool_id in ${visiblePoolIds}
    order by t.value collate "C" limit 1`;
  const found = await queryRows<{ value: string }>(tx)`
    with recursive found as (
      (${next(sql`${after}`)})
      union all
      select (${next(sql`found.value`)}) from found where found.value is not null
    )
    select value from (
      (select value from found where value is not null limit ${limit})
      union select value from unnest(${exact}::text[]) as e (value) where value collate "C" > ${after} and exists (
        select from item_terms t where t.kind = ${kind} and t.value collate "C" = e.value and ${isListed} and t.pool_id in ${visiblePoolIds})
    ) listed order by value collate "C" limit ${limit}`;
  return readEntityRows(
    tx,
    type,
    found.map(({ value }) => value),
  );
}

/** Like `listEntityRows`, for the items that match a search alone. The figures are about these items. */
export async function listMatchingEntityRows(
  tx: Tx,
  { type, after, prefix, exact, limit }: EntityFilter,
  { snapshot, options }: { snapshot: Snapshot; options: SearchOptions },
): Promise<EntityRow[]> {
  const value = sql`t.value collate "C"`;
  const rows = sql`
    select t.value, max(t.entity) as name, count(*)::int as items, min(t.seen_at) as "firstSeen", max(t.seen_at) as "lastSeen"
    from found join item_terms t on t.item_id = found.id
    where t.kind = ${termKind(type)} and ${isListed} and ${value} > ${after}
      and (${value} >= ${prefix} and ${value} < ${`${prefix}\u{10FFFF}`} or t.value = any(${exact}::text[]))
    group by t.value order by ${value} limit ${limit}`;
  return withSearchLimits(tx, () => queryRows<EntityRow>(tx)`${withCtes(searchCtes(snapshot, options), rows)}`);
}

/** Returns the figures of visible entities by their values, in the order of the values. Values without an item are left out. */
export function readEntityRows(tx: Tx, type: EntityType, values: string[]): Promise<EntityRow[]> {
  return queryRows<EntityRow>(tx)`
    select v.value, f.* from unnest(${values}::text[]) with ordinality as v (value, place)
    cross join lateral (
      select max(t.entity) as name, count(*)::int as items, min(t.seen_at) as "firstSeen", max(t.seen_at) as "lastSeen"
      from item_terms t
      where t.kind = ${termKind(type)} and t.value collate "C" = v.value and ${isListed} and t.pool_id in ${visiblePoolIds}
    ) f where f.items > 0 order by v.place`;
}

/** Returns the document of the newest visible item that contains a name or an alias of this type. */
export async function findAliasDocument(tx: Tx, type: EntityType, value: string): Promise<string | undefined> {
  const [row] = await queryRows<{ doc: string }>(tx)`
    select i.doc from item_terms t join items i on i.id = t.item_id
    where t.kind = ${termKind(type)} and t.value collate "C" = ${value} and t.standing is null and t.pool_id in ${visiblePoolIds}
    order by t.item_id desc limit 1`;
  return row?.doc;
}

/** Returns the newest items that contain an entity. */
export function listEntityItems(
  tx: Tx,
  type: EntityType,
  value: string,
  limit: number,
): Promise<{ id: string; version: number }[]> {
  return queryRows<{ id: string; version: number }>(tx)`
    select i.id, i.version from (
      select t.item_id, t.seen_at from item_terms t
      where t.kind = ${termKind(type)} and t.value collate "C" = ${value} and ${isListed} and t.pool_id in ${visiblePoolIds}
      order by t.seen_at desc, t.item_id desc limit ${limit}
    ) newest join items i on i.id = newest.item_id order by newest.seen_at desc, i.id desc`;
}
