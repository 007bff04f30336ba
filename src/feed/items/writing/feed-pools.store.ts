import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

/** The pool that every organization sees. */
export const publicPoolId = '00000000-0000-7000-8000-000000000001';

export type LockedPool = { id: string; seq: number; last_added_at: Date };

/**
 * The order in which transactions lock rows of the feed, so that none waits for another that waits for it:
 *
 * 1. the profile of the organization (`feed_profiles`),
 * 2. the source (`feed_sources`),
 * 3. the pools, the public one first, then assigned ones, then private ones, each by id (`poolLockOrder`),
 * 4. everything else: only the holder of the pool writes its items, terms, links, totals and overrides.
 *
 * Profiles, sources and pools are locked `for no key update`. `for update` would also block the foreign keys of rows that refer to them, and
 * those rows are inserted in any order. The one exception to the order: a transaction that wrote items of several pools locks private pools of
 * other organizations at its end (`listOrgsWithGroupOverrides`). `db.ts` repeats a transaction that deadlocks there.
 */
const poolLockOrder = sql`array_position(array['public', 'assigned', 'private'], kind), id`;

/** Locks pools in `poolLockOrder`. The holder of the lock decides the next sequence number and commit time. */
export function lockPools(tx: Tx, ids: string[]): Promise<LockedPool[]> {
  return queryRows<LockedPool>(tx)`
      select id, seq, last_added_at from feed_pools where id = any(${ids}::uuid[]) order by ${poolLockOrder} for no key update`;
}

export async function lockPool(tx: Tx, id: string): Promise<LockedPool> {
  const [pool] = await lockPools(tx, [id]);
  return pool!;
}

/** Returns `now`, or a later time if one of the locked pools already has a commit at that time: commit times strictly increase. */
export const nextCommitTime = (pools: LockedPool[], now: Date): Date =>
  new Date(Math.max(now.getTime(), ...pools.map((pool) => pool.last_added_at.getTime() + 1)));

export async function advancePools(tx: Tx, ids: string[], at: Date): Promise<void> {
  await sql`update feed_pools set seq = seq + 1, last_added_at = ${at} where id = any(${ids}::uuid[])`.execute(tx);
}

/** Advances the sequence number of a pool whose readers see its items differently from now on. */
export async function incrementPoolSeq(tx: Tx, id: string): Promise<void> {
  await sql`update feed_pools set seq = seq + 1 where id = ${id}`.execute(tx);
}

/** Returns the id of the organization's private pool. Creates the pool with the id `newId` if it does not exist. */
export async function ensurePrivatePool(tx: Tx, orgId: OrgId, newId: string): Promise<string> {
  await sql`
    insert into feed_pools (id, organization_id, kind) values (${newId}, ${orgId}, 'private')
    on conflict (organization_id) where kind = 'private' do nothing`.execute(tx);
  const query = sql<{ id: string }>`select id from feed_pools where organization_id = ${orgId} and kind = 'private'`;
  const pool = await queryRow(tx, query);
  return pool!.id;
}

export async function insertAssignedPool(tx: Tx, orgId: OrgId, id: string, assignedTo: string[]): Promise<void> {
  await sql`
    insert into feed_pools (id, organization_id, kind, assigned_to) values (${id}, ${orgId}, 'assigned', ${assignedTo}::uuid[])`.execute(
    tx,
  );
}

/** Changes the audience of a source's own pool, and its sequence number: a page cached for the old audience is not valid for the new one. */
export async function updateAssignedPool(tx: Tx, id: string, assignedTo: string[]): Promise<void> {
  await sql`update feed_pools set assigned_to = ${assignedTo}::uuid[], seq = seq + 1 where id = ${id} and kind = 'assigned'`.execute(
    tx,
  );
}
