import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { ManifestCollection } from './collections.ts';

/** `isGone`: the item no longer contains the object, and this version revokes it. */
export type NewManifestObject = {
  objectId: string;
  version: string;
  type: string;
  specVersion: string;
  itemId: string;
  itemVersion: number;
  isGone: boolean;
  /** JSON of an object that several items share. */
  content: string | null;
  /** The value in `item_terms` of an actor, malware or tool that several items share. */
  term: string | null;
};

/**
 * Inserts the objects that the collection does not have yet, and of shared objects only later versions. Their dates increase by one microsecond and are later than any date that the
 * collection ever had.
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
        ${column('itemId')}::uuid[], ${column('itemVersion')}::int[], ${column('isGone')}::boolean[], ${column('content')}::text[],
        ${column('term')}::text[])
        with ordinality as n (object_id, version, type, spec_version, item_id, item_version, gone, content, term, place)
      where not exists (select 1 from taxii_objects t where t.organization_id = tocsin_org() and t.collection = ${collection}
        and t.object_id = n.object_id and (t.version = n.version or (n.content is not null and t.version > n.version)))
    ), base as (
      select greatest(clock_timestamp(), last_added) as at from taxii_collections
      where organization_id = tocsin_org() and collection = ${collection}
    ), inserted as (
      insert into taxii_objects (organization_id, collection, object_id, version, type, spec_version, date_added, item_id, item_version, gone,
        content, term)
      select tocsin_org(), ${collection}, object_id, version, type, spec_version, base.at + tick * interval '1 microsecond', item_id, item_version, gone,
        content, term
      from new_objects, base
    )
    update taxii_collections set last_added = base.at + (select coalesce(max(tick), 0) from new_objects) * interval '1 microsecond' from base
    where organization_id = tocsin_org() and collection = ${collection} and exists (select 1 from new_objects)`.execute(
    tx,
  );
}

export type StandingObject = { object_id: string; type: string; item_id: string };

/**
 * Returns the objects of these items in the collection that have no later version with `gone`, and those of `contained`, which are in the
 * collection because of another item that contains them as well. Objects without a version, and those generated for several items, are left
 * out.
 */
export function listStandingObjects(
  tx: Tx,
  collection: ManifestCollection,
  { itemIds, contained }: { itemIds: string[]; contained: { itemId: string; objectId: string }[] },
): Promise<StandingObject[]> {
  const isStanding = sql`t.organization_id = tocsin_org() and t.collection = ${collection} and t.version <> '' and t.content is null
    and not exists (select 1 from taxii_objects later where later.organization_id = t.organization_id and later.collection = t.collection
      and later.object_id = t.object_id and later.date_added > t.date_added and later.gone)`;
  return queryRows<StandingObject>(tx)`
      select t.object_id, t.type, t.item_id from taxii_objects t where t.item_id = any(${itemIds}::uuid[]) and ${isStanding}
      union
      select t.object_id, t.type, c.item_id
      from unnest(${contained.map(({ itemId }) => itemId)}::uuid[], ${contained.map(({ objectId }) => objectId)}::text[]) as c (item_id, object_id)
      join taxii_objects t on t.object_id = c.object_id where ${isStanding}`;
}
