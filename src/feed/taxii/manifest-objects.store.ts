import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { type Condition, visiblePoolIds } from '../items/snapshot/query.sql.ts';
import type { ManifestCollection } from './collections.ts';
import type { VersionKey } from '../exports/exports.store.ts';
import type { MemberCondition } from '../exports/live-objects.ts';

/** `isGone`: the item no longer contains the object, and this version revokes it. */
export type NewManifestObject = {
  objectId: string;
  version: string;
  type: string;
  specVersion: string;
  itemId: string;
  itemVersion: number;
  isGone: boolean;
  /** The object was revoked before, and its version replaces its own `modified`. */
  isRestored: boolean;
  /** When the source created an object that came as STIX. */
  created: string | null;
  /** JSON of an object that several items share. */
  content: string | null;
  /** The value in `item_terms` of an actor, malware, tool, CVE or observable that several items share. */
  term: string | null;
};

/**
 * Restricts `t` to a collection. Row-level security adds the organization. A condition on it here would make the planner expect no row while
 * the collection is filled. For the same reason, objects are looked up in subqueries with a limit, which are never joined in another way.
 */
const isInCollection = (collection: ManifestCollection): Condition => sql`t.collection = ${collection}`;

/**
 * Inserts the objects that the collection does not have yet, and of shared objects only later versions. A shared object replaces the same one
 * of a single item. Their dates increase by one microsecond and are later than any date that the collection ever had.
 */
export async function insertManifestObjects(
  tx: Tx,
  collection: ManifestCollection,
  objects: NewManifestObject[],
): Promise<void> {
  const column = <K extends keyof NewManifestObject>(name: K): NewManifestObject[K][] =>
    objects.map((object) => object[name]);
  await sql`
    with new_objects as (
      select n.*, row_number() over (order by n.place) as tick
      from unnest(${column('objectId')}::text[], ${column('version')}::text[], ${column('type')}::text[], ${column('specVersion')}::text[],
        ${column('itemId')}::uuid[], ${column('itemVersion')}::int[], ${column('isGone')}::boolean[], ${column('isRestored')}::boolean[], ${column('content')}::text[],
        ${column('term')}::text[], ${column('created')}::text[])
        with ordinality as n (object_id, version, type, spec_version, item_id, item_version, gone, restored, content, term, created, place)
      where (select true from taxii_objects t where ${isInCollection(collection)} and t.object_id = n.object_id
        and (t.version > n.version and n.content is not null or t.version = n.version and (t.content is not null or n.content is null)) limit 1) is null
    ), base as (
      select greatest(clock_timestamp(), last_added) as at from taxii_collections
      where organization_id = tocsin_org() and collection = ${collection}
    ), inserted as (
      insert into taxii_objects (organization_id, collection, object_id, version, type, spec_version, date_added, item_id, item_version, gone,
        restored, content, term, created)
      select tocsin_org(), ${collection}, object_id, version, type, spec_version, base.at + tick * interval '1 microsecond', item_id, item_version, gone,
        restored, content, term, created
      from new_objects, base
      on conflict (organization_id, collection, object_id, version) do update set date_added = excluded.date_added, item_id = excluded.item_id,
        item_version = excluded.item_version, content = excluded.content, term = excluded.term, created = excluded.created
    )
    update taxii_collections set last_added = base.at + (select coalesce(max(tick), 0) from new_objects) * interval '1 microsecond' from base
    where organization_id = tocsin_org() and collection = ${collection} and exists (select 1
    from new_objects)`.execute(tx);
}

/** The order of the versions of an object, see `hasAnyVersion`. */
const latestFirst = sql`t.version collate "C" desc, t.date_added desc`;

/** The last version of an object, and the latest that has its own `modified`, or null. */
export type KnownObject = {
  object_id: string;
  version: string;
  item_id: string;
  gone: boolean;
  restored: boolean;
  own_version: string | null;
};

/** Returns the last versions of objects that the collection has. */
export function listKnownObjects(tx: Tx, collection: ManifestCollection, objectIds: string[]): Promise<KnownObject[]> {
  return queryRows<KnownObject>(tx)`
      select known.* from unnest(${objectIds}::text[]) as n (object_id) cross join lateral (
        select t.object_id, t.version, t.item_id, t.gone, t.restored, (
            select max(o.version collate "C") from taxii_objects o
            where o.collection = t.collection and o.object_id = t.object_id and not o.gone and not o.restored) as own_version
        from taxii_objects t where ${isInCollection(collection)} and t.object_id = n.object_id order by ${latestFirst} limit 1
      ) known`;
}

export type StandingObject = { object_id: string; type: string; item_id: string; created: string | null };

/**
 * Returns the objects of these items in the collection whose last version is not `gone`, also those that were added for another item. Objects
 * without a version, and those generated for several items, are left out.
 */
export function listStandingObjects(
  tx: Tx,
  collection: ManifestCollection,
  itemIds: string[],
): Promise<StandingObject[]> {
  return queryRows<StandingObject>(tx)`
      select contained.object_id, latest.type, contained.item_id, latest.created
      from unnest(${itemIds}::uuid[]) as n (item_id) cross join lateral (
        select t.object_id, t.item_id from taxii_objects t
        where ${isInCollection(collection)} and t.item_id = n.item_id and t.version <> '' and t.content is null
        union
        select t.object_id, t.item_id from taxii_object_items t where ${isInCollection(collection)} and t.item_id = n.item_id
      ) contained
      cross join lateral (
        select t.type, t.gone, t.created from taxii_objects t where ${isInCollection(collection)} and t.object_id = contained.object_id
        order by ${latestFirst} limit 1
      ) latest
      where not latest.gone`;
}

type ObjectMove = { objectId: string; version: string; fromItemId: string; itemId: string; itemVersion: number };

/** Moves versions of objects from items that no longer contain them to items that do, from which they are read from now on. */
export async function moveManifestObjects(tx: Tx, collection: ManifestCollection, moves: ObjectMove[]): Promise<void> {
  const column = <K extends keyof ObjectMove>(name: K): ObjectMove[K][] => moves.map((move) => move[name]);
  await sql`
    update taxii_objects t set item_id = n.item_id, item_version = n.item_version
    from unnest(${column('objectId')}::text[], ${column('version')}::text[], ${column('fromItemId')}::uuid[], ${column('itemId')}::uuid[],
      ${column('itemVersion')}::int[]) as n (object_id, version, from_item_id, item_id, item_version)
    where ${isInCollection(collection)} and t.object_id = n.object_id and t.version = n.version and t.item_id = n.from_item_id
      and not t.gone`.execute(tx);
}

/** Reads the final versions of objects from the current versions of their items from now on, because earlier ones may have been erased. */
export async function renewGoneObjects(
  tx: Tx,
  collection: ManifestCollection,
  items: { id: string; version: number }[],
): Promise<void> {
  await sql`
    update taxii_objects t set item_version = n.version
    from unnest(${items.map(({ id }) => id)}::uuid[], ${items.map(({ version }) => version)}::int[]) as n (id, version)
    where ${isInCollection(collection)} and t.item_id = n.id and t.gone and t.item_version < n.version`.execute(tx);
}

/** An item that contains an object. */
type ObjectItem = { objectId: string; itemId: string };

export async function insertObjectItems(tx: Tx, collection: ManifestCollection, found: ObjectItem[]): Promise<void> {
  await sql`
    insert into taxii_object_items (organization_id, collection, object_id, item_id)
    select tocsin_org(), ${collection}, n.* from unnest(${found.map(({ objectId }) => objectId)}::text[],
      ${found.map(({ itemId }) => itemId)}::uuid[]) as n (object_id, item_id)
    on conflict do nothing`.execute(tx);
}

const itemsMax = 200;

/**
 * Returns live items of the collection that contained any of the objects when they were last read, and those that continue one of `itemIds`
 * under a stricter marking. Items with the most objects come first.
 */
export function listContainingItems(
  tx: Tx,
  collection: ManifestCollection,
  { objectIds, itemIds, isMember }: { objectIds: string[]; itemIds: string[]; isMember: MemberCondition | undefined },
): Promise<VersionKey[]> {
  const isInCollection = sql`organization_id = tocsin_org() and collection = ${collection} and object_id = any(${objectIds}::text[])`;
  return queryRows<VersionKey>(tx)`
      select i.id, i.version
      from (
        select item_id from taxii_objects where ${isInCollection}
        union all select item_id from taxii_object_items where ${isInCollection}
        union all
        select next.id from items old join items next on next.source_id = old.source_id and next.record_id = old.record_id and next.id <> old.id
        where old.id = any(${itemIds}::uuid[])
      ) found join items i on i.id = found.item_id
      where i.pool_id in ${visiblePoolIds} and i.status <> 'retracted' and ${isMember ? isMember(sql`i.id`) : sql`true`}
      group by i.id, i.version order by count(*) desc, i.id desc limit ${itemsMax}`;
}
