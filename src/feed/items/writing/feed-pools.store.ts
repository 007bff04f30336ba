import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readQuota } from '../../../platform/orgs/limits/limits.store.ts';
import { requireQuota } from '../../../platform/orgs/limits/quotas.ts';

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
    insert into feed_pools (id, organization_id, kind, assigned_to)
      values (${id}, ${orgId}, 'assigned', ${assignedTo}::uuid[])`.execute(tx);
}

/** Changes the audience of a source's own pool, and its sequence number: a page cached for the old audience is not valid for the new one. */
export async function updateAssignedPool(tx: Tx, id: string, assignedTo: string[]): Promise<void> {
  await sql`
    update feed_pools set assigned_to = ${assignedTo}::uuid[], seq = seq + 1
      where id = ${id} and kind = 'assigned'`.execute(tx);
}

/** The key of a row of `feed_counts`, which counts the items of a pool. */
type CountKey = {
  poolId: string;
  severity: string;
  status: string;
  publisher: string;
  sourceName: string;
  platforms: string[];
};

/** An item as it is counted. */
type CountedItem = CountKey & { isRoot: boolean };

/** The columns of `items` from which an item is counted. */
export type CountedRow = Omit<CountKey, 'poolId' | 'sourceName'> & {
  pool_id: string;
  source_name: string;
  duplicate_of: string | null;
};

export function toCountedItem({ pool_id: poolId, source_name: sourceName, ...row }: CountedRow): CountedItem {
  const { severity, status, publisher, platforms, duplicate_of: root } = row;
  return { poolId, severity, status, publisher, sourceName, platforms, isRoot: root === null };
}

/** Returns the number of an organization's private items that are not retracted. */
async function countPrivateItems(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select coalesce(sum(c.n), 0) as n from feed_pools p join feed_counts c on c.pool_id = p.id
    where p.organization_id = ${orgId} and p.kind = 'private' and c.status <> 'retracted'`;
  return row!.n;
}

/** An item that is now counted differently. `before` is undefined for a new item. */
type CountMove = { before?: CountedItem; after: CountedItem };

/** Updates the totals in the transaction that writes the items. The items' pools must be locked. */
export async function moveCounts(tx: Tx, moves: CountMove[]): Promise<void> {
  const deltas = new Map<string, { key: CountKey; by: number; rootsBy: number }>();
  const add = ({ isRoot, ...key }: CountedItem, by: 1 | -1): void => {
    const platforms = key.platforms.toSorted();
    const name = JSON.stringify([key.poolId, key.severity, key.status, key.publisher, key.sourceName, platforms]);
    const known = deltas.get(name) ?? { by: 0, rootsBy: 0 };
    deltas.set(name, { key: { ...key, platforms }, by: known.by + by, rootsBy: known.rootsBy + (isRoot ? by : 0) });
  };
  for (const { before, after } of moves) {
    if (before) add(before, -1);
    add(after, 1);
  }
  const changed = [...deltas.values()].filter(({ by, rootsBy }) => by !== 0 || rootsBy !== 0);
  if (changed.length === 0) return;
  const column = (name: Exclude<keyof CountKey, 'platforms'>): string[] => changed.map(({ key }) => key[name]);
  await sql`
    insert into feed_counts (pool_id, severity, status, publisher, source_name, platforms, n, roots)
    select * from unnest(${column('poolId')}::uuid[], ${column('severity')}::text[], ${column('status')}::text[],
      ${column('publisher')}::text[], ${column('sourceName')}::text[], ${changed.map(({ key }) => key.platforms.join(','))}::text[],
      ${changed.map(({ by }) => by)}::int[], ${changed.map(({ rootsBy }) => rootsBy)}::int[])
    on conflict (pool_id, severity, status, publisher, source_name, platforms) do update
    set n = feed_counts.n + excluded.n, roots = feed_counts.roots + excluded.roots`.execute(tx);
  const pools = [...new Set(changed.flatMap(({ key, by }) => (by < 0 ? [key.poolId] : [])))];
  if (pools.length === 0) return;
  await sql`delete from feed_counts where n = 0 and pool_id = any(${pools}::uuid[])`.execute(tx);
}

/** The quota of private items and how many more it allows. */
export type ItemRoom = { limit: number; room: number };

/**
 * Returns how many private items an organization may still add, or undefined without a quota. The number is exact until the transaction ends
 * if it has locked the private pool.
 */
export async function readItemRoom(tx: Tx, orgId: OrgId): Promise<ItemRoom | undefined> {
  const limit = await readQuota(tx, orgId, 'feedItems');
  if (limit === null) return undefined;
  return { limit, room: Math.max(0, limit - (await countPrivateItems(tx, orgId))) };
}

/** Throws `quota_reached` (409) if the organization may not add a private item. The caller has locked the private pool. */
export const requireItemQuota = (tx: Tx, orgId: OrgId): Promise<void> =>
  requireQuota(tx, orgId, 'feedItems', () => countPrivateItems(tx, orgId));
