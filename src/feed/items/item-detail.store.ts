import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import { isVisible } from './items.store.ts';

const duplicatesMax = 500;
const relatedMax = 50;
const sharingMax = 500;
const visible = sql`(select id from feed_pools where ${isVisible})`;
const ownRoot = sql`case when o.moved then o.duplicate_of else i.duplicate_of end`;
const withOwn = sql`items i left join feed_overrides o on o.organization_id = tocsin_org() and o.item_id = i.id`;

/** The other items of the item's group as the organization sees it: the root first, then the oldest. */
export async function listDuplicates(tx: Tx, id: string): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ id: string }>`
      with root as materialized (select coalesce(${ownRoot}, i.id) as id from ${withOwn} where i.id = ${id}),
      near as (
        select id from root
        union select i.id from root join items i on i.duplicate_of = root.id
        union select o.item_id from root join feed_overrides o on o.organization_id = tocsin_org() and o.duplicate_of = root.id
      )
      select i.id from root, near join ${withOwn} on i.id = near.id
      where coalesce(${ownRoot}, i.id) = root.id and i.id <> ${id} and i.pool_id in ${visible}
      order by i.id <> root.id, i.added_to_feed_at, i.id limit ${duplicatesMax}`,
  );
  return found.map((item) => item.id);
}

/** Items that share a CVE with the item and are not of its group, the newest first. */
export async function listSharingCve(tx: Tx, id: string): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ id: string }>`
      select i.id from items i join (
        select distinct other.item_id from item_terms t cross join lateral (
          select o.item_id from item_terms o where o.kind = 'cve' and o.value = t.value and o.item_id <> t.item_id
            and o.pool_id in ${visible} limit ${sharingMax}
        ) other where t.item_id = ${id} and t.kind = 'cve'
      ) near on near.item_id = i.id
      where i.pool_id in ${visible} and i.status <> 'retracted' order by i.added_to_feed_at desc, i.id desc limit ${relatedMax}`,
  );
  return found.map((item) => item.id);
}

export type TextRow = { version: number; stored_text: string; at: Date };

/** The text of a version of an item that the organization sees; of the newest where none is named. */
export function findText(tx: Tx, id: string, version: number | undefined): Promise<TextRow | undefined> {
  return row(
    tx,
    sql<TextRow>`
      select version, stored_text, at from item_versions
      where item_id = ${id} and pool_id in ${visible} ${version === undefined ? sql`` : sql`and version = ${version}`}
      order by version desc limit 1`,
  );
}
