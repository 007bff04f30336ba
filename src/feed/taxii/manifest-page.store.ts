import { sql } from 'kysely';
import { rows, type Tx } from '../../platform/db/db.ts';
import { isVisible } from '../items/items.store.ts';
import type { Collection } from './collections.ts';
import type { Asked } from './objects-query.ts';

export type ListedObject = {
  object_id: string;
  version: string;
  type: string;
  spec_version: string;
  date_added: string;
  item_id: string;
  item_version: number;
  gone: boolean;
};

const mine = sql`t.organization_id = tocsin_org() and t.collection = `;

/** Rows of a collection in the order of their dates, as many as a page has and one more. */
export function listObjects(tx: Tx, { listed, only }: Collection, asked: Asked): Promise<ListedObject[]> {
  const { after, limit, ids, types, specVersions } = asked;
  return rows(
    tx,
    sql<ListedObject>`
      select t.object_id, t.version, t.type, t.spec_version, t.item_id, t.item_version, t.gone,
        to_char(t.date_added, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as date_added
      from taxii_objects t join items i on i.id = t.item_id
      where ${mine}${listed} and i.pool_id in (select id from feed_pools where ${isVisible})
        ${after === undefined ? sql`` : sql`and t.date_added > ${after}::timestamptz`}
        ${only === undefined ? sql`` : sql`and t.type = ${only}`}
        ${ids === undefined ? sql`` : sql`and t.object_id = any(${ids}::text[])`}
        ${types === undefined ? sql`` : sql`and t.type = any(${types}::text[])`}
        ${specVersions === undefined ? sql`` : sql`and t.spec_version = any(${specVersions}::text[])`}
        ${versionCondition(asked.versions)}
      order by t.date_added limit ${limit + 1}`,
  );
}

/** A version is later than another where it was added later. */
function versionCondition(versions: string[]): ReturnType<typeof sql> {
  if (versions.includes('all')) return sql``;
  const none = (order: ReturnType<typeof sql>): ReturnType<typeof sql> => sql`
    not exists (select 1 from taxii_objects o where o.organization_id = t.organization_id and o.collection = t.collection
      and o.object_id = t.object_id and o.date_added ${order} t.date_added)`;
  const times = versions.filter((version) => version !== 'last' && version !== 'first');
  return sql`and (
    ${versions.includes('last') ? none(sql`>`) : sql`false`} or ${versions.includes('first') ? none(sql`<`) : sql`false`}
    or (t.version <> '' and t.version = any(${times}::text[])) or (t.version = '' and t.date_added = any(${times}::timestamptz[])))`;
}
