import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { VersionKey } from '../exports/item-versions.store.ts';
import type { MemberCondition } from '../exports/live-objects.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import type { ManifestCollection } from './collections.ts';

/** An item that contains an object. */
export type ObjectItem = { objectId: string; itemId: string };

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
