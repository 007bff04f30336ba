import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { visiblePoolIds } from './visible-pools.sql.ts';

const duplicatesMax = 500;
const relatedMax = 50;
const sharingMax = 500;
const itemsWithOverride = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;
const rootAsSeen = sql`case when o.moved then o.duplicate_of else i.duplicate_of end`;

/** Returns the other items of the item's group as the organization sees it: the root first, then the oldest. */
export async function listDuplicates(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      with root as materialized (select coalesce(${rootAsSeen}, i.id) as id from ${itemsWithOverride} where i.id = ${id}),
      near as (
        select id from root
        union select i.id from root join items i on i.duplicate_of = root.id
        union select o.item_id from root join feed_overrides o on o.organization_id = tocsin_org() and o.duplicate_of = root.id
      )
      select i.id from root, near join ${itemsWithOverride} on i.id = near.id
      where coalesce(${rootAsSeen}, i.id) = root.id and i.id <> ${id} and i.pool_id in ${visiblePoolIds}
      order by i.id <> root.id, i.added_to_feed_at, i.id limit ${duplicatesMax}`;
  return found.map((item) => item.id);
}

/** Returns the newest visible items that share a CVE with the item, including items of its group. */
export async function listSharingCve(tx: Tx, id: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      select i.id from items i join (
        select distinct other.item_id from item_terms t cross join lateral (
          select o.item_id from item_terms o where o.kind = 'cve' and o.value = t.value and o.item_id <> t.item_id
            and o.pool_id in ${visiblePoolIds} limit ${sharingMax}
        ) other where t.item_id = ${id} and t.kind = 'cve'
      ) near on near.item_id = i.id
      where i.pool_id in ${visiblePoolIds} and i.status <> 'retracted' order by i.added_to_feed_at desc, i.id desc limit ${relatedMax}`;
  return found.map((item) => item.id);
}

export type TextRow = { version: number; stored_text: string; at: Date };

/** Finds the text of a version of a visible item, or of its newest version if `version` is undefined. */
export function findText(tx: Tx, id: string, version: number | undefined): Promise<TextRow | undefined> {
  const isVersion = version === undefined ? sql`true` : sql`version = ${version}`;
  return queryRow<TextRow>(tx)`
      select version, stored_text, at from item_versions
      where item_id = ${id} and pool_id in ${visiblePoolIds} and ${isVersion}
      order by version desc limit 1`;
}
