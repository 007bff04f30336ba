import { sql } from 'kysely';
import { acrossOrgs, inOrg, row, rows, type Db, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { HeldItem } from '../../ingestion/pull-plan.ts';
import type { SourceRow } from '../../sources/source-row.ts';

/** The pool that everyone sees. */
export const publicPool = '00000000-0000-7000-8000-000000000001';

type SourceId = Pick<SourceRow, 'id' | 'organization_id'>;

/**
 * A transaction that may write a source's items: a private source's as its organization, so that row-level security holds by itself;
 * a shared one's pools belong to all or to several.
 */
export function inSourceAcrossOrgs<T>(
  db: Db,
  source: Pick<SourceRow, 'visibility' | 'organization_id'>,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return source.visibility === 'private' ? inOrg(db, source.organization_id, work) : acrossOrgs(db, work);
}

/** The latest generation of every record that the feed holds of a source. */
export function listHeldItems(tx: Tx, source: SourceId): Promise<HeldItem[]> {
  return rows(
    tx,
    sql<HeldItem>`
      select distinct on (record_id) id, record_id, generation, status, version, content_hash, record_hash, record_modified_at,
        missing_pulls, pool_id, severity, publisher, source_name, platforms, created_at, added_to_feed_at, held_back is not null as held_back
      from items where organization_id = ${source.organization_id} and source_id = ${source.id} order by record_id, generation desc`,
  );
}

export type CurrentText = {
  id: string;
  doc: string;
  stored_text: string;
  severity_rule: string;
  aliases: string[];
  objects: string | null;
};

/** Documents, each without the figures of its group, and texts of the current versions. */
export function listCurrentTexts(
  tx: Tx,
  source: Pick<SourceId, 'organization_id'>,
  ids: string[],
): Promise<CurrentText[]> {
  return rows(
    tx,
    sql<CurrentText>`
      select i.id, coalesce(i.own_doc, i.doc) as doc, v.stored_text, v.objects, i.severity_rule,
        array(select t.value from item_terms t where t.item_id = i.id and t.kind = 'alias') as aliases from items i join item_versions v on v.item_id = i.id and v.version = i.version
      where i.organization_id = ${source.organization_id} and i.id = any(${ids}::uuid[])`,
  );
}

/** The item that the organization made of a text. */
export async function findPostedItem(tx: Tx, orgId: OrgId, recordId: string): Promise<string | undefined> {
  const found = await row(
    tx,
    sql<{ id: string }>`
      select id from items where organization_id = ${orgId} and source_id is null and record_id = ${recordId} order by generation desc limit 1`,
  );
  return found?.id;
}

export async function readOrgName(tx: Tx, orgId: OrgId): Promise<string> {
  return (await row(tx, sql<{ name: string }>`select name from organizations where id = ${orgId}`))!.name;
}

/** Locks the pools in the order of their ids; whoever holds them decides the next sequence number and time. */
export function lockPools(tx: Tx, ids: string[]): Promise<{ id: string; seq: number; last_added_at: Date }[]> {
  return rows(
    tx,
    sql<{ id: string; seq: number; last_added_at: Date }>`
      select id, seq, last_added_at from feed_pools where id = any(${ids}::uuid[]) order by id for update`,
  );
}

export async function advancePools(tx: Tx, ids: string[], at: Date): Promise<void> {
  await sql`update feed_pools set seq = seq + 1, last_added_at = ${at} where id = any(${ids}::uuid[])`.execute(tx);
}

/** The organization's own pool, made where it has none yet. */
export async function privatePool(tx: Tx, orgId: OrgId, freshId: string): Promise<string> {
  await sql`
    insert into feed_pools (id, organization_id, kind) values (${freshId}, ${orgId}, 'private')
    on conflict (organization_id) where kind = 'private' do nothing`.execute(tx);
  const pool = await row(
    tx,
    sql<{ id: string }>`select id from feed_pools where organization_id = ${orgId} and kind = 'private'`,
  );
  return pool!.id;
}

export async function insertAssignedPool(tx: Tx, orgId: OrgId, id: string, assignedTo: string[]): Promise<void> {
  await sql`
    insert into feed_pools (id, organization_id, kind, assigned_to) values (${id}, ${orgId}, 'assigned', ${assignedTo}::uuid[])`.execute(
    tx,
  );
}

/** The audience of a source's own pool; the pool moves on, so that no page made for the old audience is taken for the new one's. */
export async function updateAssignedPool(tx: Tx, id: string, assignedTo: string[]): Promise<void> {
  await sql`update feed_pools set assigned_to = ${assignedTo}::uuid[], seq = seq + 1 where id = ${id} and kind = 'assigned'`.execute(
    tx,
  );
}

/** Marks rows as absent once (1) or as present again (0). */
export async function markMissing(tx: Tx, ids: string[], missingPulls: 0 | 1): Promise<void> {
  if (ids.length > 0)
    await sql`update items set missing_pulls = ${missingPulls} where id = any(${ids}::uuid[])`.execute(tx);
}
