import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';

export type OverrideRow = {
  item_id: string;
  status: string | null;
  note: string | null;
  stands_apart: boolean;
  merged_into: string | null;
  moved: boolean;
  duplicate_of: string | null;
};

const columns = sql`item_id, status, note, stands_apart, merged_into, moved, duplicate_of`;

export function findOverride(tx: Tx, orgId: string, itemId: string): Promise<OverrideRow | undefined> {
  return row(
    tx,
    sql<OverrideRow>`select ${columns} from feed_overrides where organization_id = ${orgId} and item_id = ${itemId}`,
  );
}

/** What decides which items belong together: the only rows of these that lead to other roots. */
const decides = sql`(status = 'retracted' or stands_apart or merged_into is not null or moved)`;

/** What an organization says of which items belong together. There are few: each is a person's word. */
export function listOverrides(tx: Tx, orgId: string): Promise<OverrideRow[]> {
  return rows(tx, sql<OverrideRow>`select ${columns} from feed_overrides where organization_id = ${orgId}`);
}

export async function writeOverride(
  tx: Tx,
  given: {
    orgId: string;
    itemId: string;
    status: string | null;
    note: string | null;
    standsApart: boolean;
    mergedInto: string | null;
    at: Date;
    by: string | null;
  },
): Promise<void> {
  await sql`
    insert into feed_overrides (organization_id, item_id, status, note, stands_apart, merged_into, updated_at, updated_by)
    values (${given.orgId}, ${given.itemId}, ${given.status}, ${given.note}, ${given.standsApart}, ${given.mergedInto}, ${given.at}, ${given.by})
    on conflict (organization_id, item_id) do update set status = excluded.status, note = excluded.note,
      stands_apart = excluded.stands_apart, merged_into = excluded.merged_into, updated_at = excluded.updated_at, updated_by = excluded.updated_by`.execute(
    tx,
  );
}

export type SeenItem = {
  id: string;
  status: string;
  duplicate_of: string | null;
  added_to_feed_at: Date;
  publish_time: Date | null;
};

const groupsMax = 20_000;

/** The groups of these items as everyone sees them, within what the organization sees. */
export function listSeenGroups(tx: Tx, orgId: string, ids: string[]): Promise<SeenItem[]> {
  return rows(
    tx,
    sql<SeenItem>`
      with roots as materialized (select distinct coalesce(duplicate_of, id) as id from items where id = any(${ids}::uuid[])),
      mine as materialized (select id from feed_pools where kind = 'public' or organization_id = ${orgId} or (kind = 'assigned' and ${orgId}::uuid = any(assigned_to)))
      select i.id, i.status, i.duplicate_of, i.added_to_feed_at, i.publish_time from items i
      where (i.id in (select id from roots) or i.duplicate_of in (select id from roots)) and i.pool_id in (select id from mine)
      limit ${groupsMax}`,
  );
}

/** Writes which items have another root for the organization than for others. */
export async function writeMoves(
  tx: Tx,
  orgId: string,
  moves: { id: string; root: string | null }[],
  at: Date,
): Promise<void> {
  const [ids, roots] = [moves.map(({ id }) => id), moves.map(({ root }) => root)];
  await sql`
    update feed_overrides set moved = false, duplicate_of = null, updated_at = ${at} where organization_id = ${orgId} and moved and item_id <> all(${ids}::uuid[])`.execute(
    tx,
  );
  await sql`
    insert into feed_overrides (organization_id, item_id, moved, duplicate_of, updated_at)
    select ${orgId}, n.id, true, n.root, ${at} from unnest(${ids}::uuid[], ${roots}::uuid[]) as n (id, root)
    on conflict (organization_id, item_id) do update set moved = true, duplicate_of = excluded.duplicate_of, updated_at = excluded.updated_at
    where not feed_overrides.moved or feed_overrides.duplicate_of is distinct from excluded.duplicate_of`.execute(tx);
}

/** Organizations that say something of these items, or made one of them a root. */
export function listOrgsWithDecisions(tx: Tx, ids: string[]): Promise<{ org_id: string; pool_id: string }[]> {
  return rows(
    tx,
    sql<{ org_id: string; pool_id: string }>`
      select p.organization_id as org_id, p.id as pool_id from feed_pools p
      where p.kind = 'private' and p.organization_id in (
        select organization_id from feed_overrides where item_id = any(${ids}::uuid[]) and ${decides}
        union select organization_id from feed_overrides where merged_into = any(${ids}::uuid[])
        union select organization_id from feed_overrides where duplicate_of = any(${ids}::uuid[]))
      order by p.id for update`,
  );
}

/** What the organization reads is another from now on. */
export async function movePool(tx: Tx, id: string): Promise<void> {
  await sql`update feed_pools set seq = seq + 1 where id = ${id}`.execute(tx);
}
