import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { readQuota } from '../../../platform/orgs/limits/limits.store.ts';
import { requireQuota } from '../../../platform/orgs/limits/quotas.ts';

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
