import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { type Condition, type Sql, allOf, visiblePoolIds } from '../items/snapshot/query.sql.ts';
import { formatVersion } from '../exports/stix/stix-object.ts';
import type { ManifestCollection, TaxiiCollection } from './collections.ts';
import type { ObjectsFilter } from './objects-query.ts';

/** Locks the organization's manifest of a collection against concurrent syncs, and creates it if it does not exist. */
export async function lockCollection(tx: Tx, collection: ManifestCollection): Promise<void> {
  await sql`
    insert into taxii_collections (organization_id, collection) values (tocsin_org(), ${collection})
      on conflict do nothing`.execute(tx);
  const isCollection = sql`organization_id = tocsin_org() and collection = ${collection}`;
  await sql`select 1 from taxii_collections where ${isCollection} for update`.execute(tx);
}

/** A change of an item, from one source of changes. `isMember`: the item now belongs to the collection. */
export type ItemChange = { source: string; seq: number; id: string; version: number; isMember: boolean };

type MemberCondition = (itemId: Sql) => Condition;
type RelevantChanges = {
  collection: ManifestCollection;
  cause: 'relevant' | 'overridden';
  profileVersion: number;
  ownSeq: number;
  isRelevant: MemberCondition;
  limit: number;
};

/**
 * Every source of changes has a cursor: the last synced `(seq, item id)` in it. The functions below return the next changes after the cursor.
 * `cursorOf` joins the cursor as `c`.
 */
const cursorOf = (collection: ManifestCollection, source: Sql): Sql => sql`
  left join taxii_cursors c on c.organization_id = tocsin_org() and c.collection = ${collection} and c.source = ${source}`;

/** Returns the name of a source in the cursors. A new format version reads every source again, which adds the objects in their new form. */
const toSource = (name: string): string => `${name} (format ${formatVersion})`;

const isAfterCursor = (seq: Sql, itemId: Sql): Condition =>
  sql`(${seq}, ${itemId}) > (coalesce(c.seq, -1), coalesce(c.item_id, '00000000-0000-0000-0000-000000000000'))`;

/**
 * Returns the next items that changed in the visible pools. Each pool is a source, with a name that begins with `prefix`. Every change moves an
 * item to the end of its pool, so that none is missed.
 */
export function listChangedItems(
  tx: Tx,
  {
    collection,
    prefix,
    isMember,
    limit,
  }: { collection: ManifestCollection; prefix: string; isMember?: MemberCondition; limit: number },
): Promise<ItemChange[]> {
  const source = sql`${`${toSource(prefix)}:`} || p.id::text`;
  return queryRows<ItemChange>(tx)`
      select next.* from ${visiblePoolIds} p ${cursorOf(collection, source)}
      cross join lateral (
        select ${source} as source, i.seq, i.id, i.version, ${isMember ? isMember(sql`i.id`) : sql`true`} as "isMember" from items i
        where i.pool_id = p.id and ${isAfterCursor(sql`i.seq`, sql`i.id`)}
        order by i.seq, i.id limit ${limit}
      ) next order by next.source, next.seq, next.id limit ${limit}`;
}

/**
 * Returns the next items that the scores of a profile version made relevant, or whose relevance an override or a sighting may have changed, up
 * to a sequence number of the private pool.
 */
export function listRelevanceChanges(tx: Tx, changes: RelevantChanges): Promise<ItemChange[]> {
  const { collection, cause, profileVersion, ownSeq, isRelevant, limit } = changes;
  const source = sql`${toSource(`${cause}:${profileVersion}`)}`;
  const scores = sql`select item_id, seq_from as seq from feed_relevance where organization_id = tocsin_org() and version = ${profileVersion}`;
  const overrides = sql`select item_id, seq from feed_overrides where organization_id = tocsin_org()`;
  return queryRows<ItemChange>(tx)`
      select ${source} as source, r.seq, i.id, i.version, ${isRelevant(sql`i.id`)} as "isMember"
      from (${cause === 'relevant' ? scores : overrides}) r join items i on i.id = r.item_id ${cursorOf(collection, source)}
      where r.seq <= ${ownSeq} and i.pool_id in ${visiblePoolIds} and ${isAfterCursor(sql`r.seq`, sql`r.item_id`)}
      order by r.seq, r.item_id limit ${limit}`;
}

/** Returns the next overrides of severity, status or indicators. Only items with objects in the collection are members. */
export function listOverrideChanges(tx: Tx, collection: ManifestCollection, limit: number): Promise<ItemChange[]> {
  const source = sql`${toSource('own')}`;
  return queryRows<ItemChange>(tx)`
      select ${source} as source, m.seq, i.id, i.version,
        exists (select 1 from taxii_objects t where t.organization_id = tocsin_org() and t.collection = ${collection} and t.item_id = i.id) as "isMember"
      from feed_marks m join items i on i.id = m.item_id ${cursorOf(collection, source)}
      where m.organization_id = tocsin_org() and i.pool_id in ${visiblePoolIds} and ${isAfterCursor(sql`m.seq`, sql`m.item_id`)}
      order by m.seq, m.item_id limit ${limit}`;
}

/** Moves the cursor of each source to its last change. `changes` must be in the order in which they were returned. */
export async function advanceCursors(tx: Tx, collection: ManifestCollection, changes: ItemChange[]): Promise<void> {
  const last = [...new Map(changes.map((change) => [change.source, change])).values()];
  await sql`
    insert into taxii_cursors (organization_id, collection, source, seq, item_id)
    select tocsin_org(), ${collection}, n.* from unnest(${last.map(({ source }) => source)}::text[], ${last.map(({ seq }) => seq)}::bigint[],
      ${last.map(({ id }) => id)}::uuid[]) as n (source, seq, item_id)
    on conflict (organization_id, collection, source) do update
      set seq = excluded.seq, item_id = excluded.item_id`.execute(tx);
}

export type ManifestRow = {
  object_id: string;
  version: string;
  type: string;
  spec_version: string;
  date_added: string;
  item_id: string;
  item_version: number;
  gone: boolean;
  restored: boolean;
  content: string | null;
  created: string | null;
};

/** Returns the rows of a collection by date added, up to one more than the limit. */
export function listManifestRows(
  tx: Tx,
  { manifest, objectType }: TaxiiCollection,
  { after, limit, ids, types, specVersions, versions }: ObjectsFilter,
): Promise<ManifestRow[]> {
  const conditions: (Condition | undefined)[] = [
    sql`t.organization_id = tocsin_org()`,
    sql`t.collection = ${manifest}`,
    isVisible,
    // True for every row. The index by date requires it.
    sql`t.date_added >= 'epoch'`,
    after === undefined ? undefined : sql`t.date_added > ${after}::timestamptz`,
    objectType === undefined ? undefined : sql`t.type = ${objectType}`,
    ids && sql`t.object_id = any(${ids}::text[])`,
    types && sql`t.type = any(${types}::text[])`,
    specVersions && sql`t.spec_version = any(${specVersions}::text[])`,
    versions.includes('all') ? undefined : hasAnyVersion(versions),
  ];
  return queryRows<ManifestRow>(tx)`
      select t.object_id, t.version, t.type, t.spec_version, t.item_id, t.item_version, t.gone, t.restored, t.content, t.created,
        to_char(t.date_added, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as date_added
      from taxii_objects t
      where ${allOf(conditions)} order by t.date_added limit ${limit + 1}`;
}

/** The kind of the value in `item_terms` that a shared object has. */
const termKind = sql`
  case when t.version = '' then 'indicator' when t.type = 'intrusion-set' then 'actor' when t.type = 'vulnerability' then 'cve' else 'malware' end`;

/** A shared object is visible if any visible item contains its name or value, also if the item for which it was added is no longer visible. */
const isVisible: Condition = sql`
  case when t.term is null then t.content is not null or exists (select 1 from items i where i.id = t.item_id and i.pool_id in ${visiblePoolIds})
  else exists (select 1 from item_terms m where m.kind = ${termKind}
    and m.value = t.term and m.pool_id in ${visiblePoolIds}) end`;

/**
 * The order of versions is that of their times, and of their dates added if they are equal: two items can contain different versions of an
 * object, and the older one can be added later. An object without a version has its date added as version.
 */
function hasAnyVersion(versions: string[]): Condition {
  const isOutermost = (order: '<' | '>'): Condition => sql`
    (select true from taxii_objects o where o.organization_id = t.organization_id and o.collection = t.collection
      and o.object_id = t.object_id and (o.version collate "C", o.date_added) ${sql.raw(order)} (t.version collate "C", t.date_added) limit 1) is null`;
  const times = versions.filter((version) => version !== 'last' && version !== 'first');
  return sql`
    ${versions.includes('last') ? isOutermost('>') : sql`false`} or ${versions.includes('first') ? isOutermost('<') : sql`false`}
    or (t.version <> '' and t.version = any(${times}::text[])) or (t.version = '' and t.date_added = any(${times}::timestamptz[]))`;
}
