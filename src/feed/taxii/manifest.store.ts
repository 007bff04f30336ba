import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { isVisible } from '../items/items.store.ts';
import type { Listed } from './collections.ts';

/** Locks what the organization sees of a collection against others that would list objects; made where it is not there. */
export async function lockCollection(tx: Tx, collection: Listed): Promise<void> {
  await sql`
    insert into taxii_collections (organization_id, collection) values (tocsin_org(), ${collection}) on conflict do nothing`.execute(
    tx,
  );
  await sql`
    select 1 from taxii_collections where organization_id = tocsin_org() and collection = ${collection} for update`.execute(
    tx,
  );
}

type Condition = (id: ReturnType<typeof sql>) => ReturnType<typeof sql>;
type Newly = { collection: Listed; version: number; seq: number; relevant: Condition; limit: number };

export type Changed = { source: string; seq: number; id: string; version: number; belongs: boolean };

/**
 * The next items that changed since the collection was last brought up to date, in every pool that the organization sees; `relevant`: which of them
 * belong to the collection. Items move to the end of their pool with every change, so nothing is passed over.
 */
export function listChanged(
  tx: Tx,
  { collection, prefix, relevant, limit }: { collection: Listed; prefix: string; relevant?: Condition; limit: number },
): Promise<Changed[]> {
  return rows(
    tx,
    sql<Changed>`
      select next.* from (select id from feed_pools where ${isVisible}) p
      left join taxii_cursors c on c.organization_id = tocsin_org() and c.collection = ${collection} and c.source = ${prefix} || p.id::text
      cross join lateral (
        select ${prefix} || p.id::text as source, i.seq, i.id, i.version, ${relevant ? relevant(sql`i.id`) : sql`true`} as belongs from items i
        where i.pool_id = p.id and (i.seq, i.id) > (coalesce(c.seq, -1), coalesce(c.item_id, '00000000-0000-0000-0000-000000000000'))
        order by i.seq, i.id limit ${limit}
      ) next order by next.source, next.seq, next.id limit ${limit}`,
  );
}

/** The next items that became relevant under a version of the profile, up to a sequence number of the organization's own pool. */
export function listNewlyRelevant(tx: Tx, { collection, version, seq, relevant, limit }: Newly): Promise<Changed[]> {
  const source = `relevant:${version}`;
  return rows(
    tx,
    sql<Changed>`
      select ${source} as source, r.seq_from as seq, r.item_id as id, i.version, ${relevant(sql`i.id`)} as belongs
      from feed_relevance r join items i on i.id = r.item_id
      left join taxii_cursors c on c.organization_id = tocsin_org() and c.collection = ${collection} and c.source = ${source}
      where r.organization_id = tocsin_org() and r.version = ${version} and r.seq_from <= ${seq} and i.pool_id in (select id from feed_pools where ${isVisible})
        and (r.seq_from, r.item_id) > (coalesce(c.seq, -1), coalesce(c.item_id, '00000000-0000-0000-0000-000000000000'))
      order by r.seq_from, r.item_id limit ${limit}`,
  );
}

/** The next items of whose relevance the organization itself, or its logs, may have said something. */
export function listNewlySaid(tx: Tx, { collection, version, seq, relevant, limit }: Newly): Promise<Changed[]> {
  const source = `said:${version}`;
  return rows(
    tx,
    sql<Changed>`
      select ${source} as source, o.seq, i.id, i.version, ${relevant(sql`i.id`)} as belongs
      from feed_overrides o join items i on i.id = o.item_id
      left join taxii_cursors c on c.organization_id = tocsin_org() and c.collection = ${collection} and c.source = ${source}
      where o.organization_id = tocsin_org() and o.seq <= ${seq} and i.pool_id in (select id from feed_pools where ${isVisible})
        and (o.seq, o.item_id) > (coalesce(c.seq, -1), coalesce(c.item_id, '00000000-0000-0000-0000-000000000000'))
      order by o.seq, o.item_id limit ${limit}`,
  );
}

/** The next items of the collection of which the organization itself said something else than before. */
export function listReworded(tx: Tx, collection: Listed, limit: number): Promise<Changed[]> {
  return rows(
    tx,
    sql<Changed>`
      select 'own' as source, m.seq, i.id, i.version,
        exists (select 1 from taxii_objects t where t.organization_id = tocsin_org() and t.collection = ${collection} and t.item_id = i.id) as belongs
      from feed_marks m join items i on i.id = m.item_id
      left join taxii_cursors c on c.organization_id = tocsin_org() and c.collection = ${collection} and c.source = 'own'
      where m.organization_id = tocsin_org() and i.pool_id in (select id from feed_pools where ${isVisible})
        and (m.seq, m.item_id) > (coalesce(c.seq, -1), coalesce(c.item_id, '00000000-0000-0000-0000-000000000000'))
      order by m.seq, m.item_id limit ${limit}`,
  );
}

/** `changed` in the order in which it was listed. */
export async function moveCursors(tx: Tx, collection: Listed, changed: Changed[]): Promise<void> {
  const last = [...new Map(changed.map((one) => [one.source, one])).values()];
  await sql`
    insert into taxii_cursors (organization_id, collection, source, seq, item_id)
    select tocsin_org(), ${collection}, n.* from unnest(${last.map(({ source }) => source)}::text[], ${last.map(({ seq }) => seq)}::bigint[],
      ${last.map(({ id }) => id)}::uuid[]) as n (source, seq, item_id)
    on conflict (organization_id, collection, source) do update set seq = excluded.seq, item_id = excluded.item_id`.execute(
    tx,
  );
}

export type NewObject = {
  objectId: string;
  version: string;
  type: string;
  specVersion: string;
  itemId: string;
  itemVersion: number;
  gone: boolean;
};

/** Dates each object that the collection does not have yet one microsecond after the one before, and none before any that was ever seen. */
export async function insertObjects(tx: Tx, collection: Listed, objects: NewObject[]): Promise<void> {
  const column = <K extends keyof NewObject>(name: K): NewObject[K][] => objects.map((object) => object[name]);
  await sql`
    with given as (
      select n.*, row_number() over (order by n.place) as tick
      from unnest(${column('objectId')}::text[], ${column('version')}::text[], ${column('type')}::text[], ${column('specVersion')}::text[],
        ${column('itemId')}::uuid[], ${column('itemVersion')}::int[], ${column('gone')}::boolean[])
        with ordinality as n (object_id, version, type, spec_version, item_id, item_version, gone, place)
      where not exists (select 1 from taxii_objects t where t.organization_id = tocsin_org() and t.collection = ${collection}
        and t.object_id = n.object_id and t.version = n.version)
    ), base as (
      select greatest(clock_timestamp(), last_added) as at from taxii_collections
      where organization_id = tocsin_org() and collection = ${collection}
    ), made as (
      insert into taxii_objects (organization_id, collection, object_id, version, type, spec_version, date_added, item_id, item_version, gone)
      select tocsin_org(), ${collection}, object_id, version, type, spec_version, base.at + tick * interval '1 microsecond', item_id, item_version, gone
      from given, base
    )
    update taxii_collections set last_added = base.at + (select coalesce(max(tick), 0) from given) * interval '1 microsecond' from base
    where organization_id = tocsin_org() and collection = ${collection} and exists (select 1 from given)`.execute(tx);
}

export type HeldObject = { object_id: string; type: string; item_id: string };

/** Objects that the collection has of these items and that still stand. */
export function listHeldObjects(tx: Tx, collection: Listed, itemIds: string[]): Promise<HeldObject[]> {
  return rows(
    tx,
    sql<HeldObject>`
      select distinct object_id, type, item_id from taxii_objects t
      where organization_id = tocsin_org() and collection = ${collection} and item_id = any(${itemIds}::uuid[]) and version <> ''
        and not exists (select 1 from taxii_objects later where later.organization_id = t.organization_id and later.collection = t.collection
          and later.object_id = t.object_id and later.date_added > t.date_added and later.gone)`,
  );
}
