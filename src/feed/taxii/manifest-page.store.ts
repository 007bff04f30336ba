import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import { allOf, type Condition } from '../items/list-query/query.sql.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { TaxiiCollection } from './collections.ts';
import type { ObjectsFilter } from './objects-query.ts';

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
