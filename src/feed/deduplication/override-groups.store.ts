import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { RootCandidate } from './groups.ts';

/** The part of an organization's override of an item that decides its group. */
export type GroupOverrideRow = {
  item_id: string;
  status: string | null;
  note: string | null;
  stands_apart: boolean;
  merged_into: string | null;
  moved: boolean;
  duplicate_of: string | null;
};

const columns = sql`item_id, status, note, stands_apart, merged_into, moved, duplicate_of`;

export function findGroupOverride(tx: Tx, orgId: string, itemId: string): Promise<GroupOverrideRow | undefined> {
  const query = sql<GroupOverrideRow>`select ${columns} from feed_overrides where organization_id = ${orgId} and item_id = ${itemId}`;
  return queryRow(tx, query);
}

/** Returns all overrides of an organization. There are few, because a person writes each of them. */
export function listGroupOverrides(tx: Tx, orgId: string): Promise<GroupOverrideRow[]> {
  return queryRows<GroupOverrideRow>(tx)`select ${columns} from feed_overrides where organization_id = ${orgId}`;
}

export type VisibleItem = RootCandidate & { status: string };

const groupItemsMax = 20_000;

/** Returns all items of the shared groups of these items that the organization sees. */
export function listVisibleGroups(tx: Tx, orgId: string, ids: string[]): Promise<VisibleItem[]> {
  return queryRows<VisibleItem>(tx)`
      with roots as materialized (select distinct coalesce(duplicate_of, id) as id from items where id = any(${ids}::uuid[])),
      mine as materialized (select id from feed_pools where kind = 'public' or organization_id = ${orgId} or (kind = 'assigned' and ${orgId}::uuid = any(assigned_to)))
      select i.id, i.status, i.duplicate_of, i.added_to_feed_at, i.publish_time from items i
      where (i.id in (select id from roots) or i.duplicate_of in (select id from roots)) and i.pool_id in (select id from mine)
      limit ${groupItemsMax}`;
}

/** Overrides that can change the group of an item. */
const changesGroup = sql`(status = 'retracted' or stands_apart or merged_into is not null or moved)`;

/** Returns the organizations whose overrides change the group of one of these items, merge into it, or make it a root. Locks their private pools. */
export function listOrgsWithGroupOverrides(tx: Tx, ids: string[]): Promise<{ org_id: string; pool_id: string }[]> {
  return queryRows<{ org_id: string; pool_id: string }>(tx)`
      select p.organization_id as org_id, p.id as pool_id from feed_pools p
      where p.kind = 'private' and p.organization_id in (
        select organization_id from feed_overrides where item_id = any(${ids}::uuid[]) and ${changesGroup}
        union select organization_id from feed_overrides where merged_into = any(${ids}::uuid[])
        union select organization_id from feed_overrides where duplicate_of = any(${ids}::uuid[]))
      order by p.id for no key update`;
}
