import { sql } from 'kysely';
import { queryRow, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

/** The key of a row of `feed_counts`, which counts the items of a pool. */
export type CountKey = {
  poolId: string;
  severity: string;
  status: string;
  publisher: string;
  sourceName: string;
  platforms: string[];
};

type CountedRow = Omit<CountKey, 'poolId' | 'sourceName'> & { pool_id: string; source_name: string };

export function countKeyOf({ pool_id: poolId, source_name: sourceName, ...row }: CountedRow): CountKey {
  const { severity, status, publisher, platforms } = row;
  return { poolId, severity, status, publisher, sourceName, platforms };
}

/** Returns the number of an organization's private items that are not retracted. */
export async function countPrivateItems(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select coalesce(sum(c.n), 0) as n from feed_pools p join feed_counts c on c.pool_id = p.id
    where p.organization_id = ${orgId} and p.kind = 'private' and c.status <> 'retracted'`;
  return row!.n;
}

/** An item that is now counted under another key. `before` is undefined for a new item. */
export type CountMove = { before?: CountKey; after: CountKey };

/** Updates the totals in the transaction that writes the items. The items' pools must be locked. */
export async function moveCounts(tx: Tx, moves: CountMove[]): Promise<void> {
  const deltas = new Map<string, { key: CountKey; by: number }>();
  const add = (key: CountKey, by: 1 | -1): void => {
    const platforms = key.platforms.toSorted();
    const name = JSON.stringify([key.poolId, key.severity, key.status, key.publisher, key.sourceName, platforms]);
    deltas.set(name, { key: { ...key, platforms }, by: (deltas.get(name)?.by ?? 0) + by });
  };
  for (const { before, after } of moves) {
    if (before) add(before, -1);
    add(after, 1);
  }
  const changed = [...deltas.values()].filter(({ by }) => by !== 0);
  if (changed.length === 0) return;
  const column = (name: Exclude<keyof CountKey, 'platforms'>): string[] => changed.map(({ key }) => key[name]);
  await sql`
    insert into feed_counts (pool_id, severity, status, publisher, source_name, platforms, n)
    select * from unnest(${column('poolId')}::uuid[], ${column('severity')}::text[], ${column('status')}::text[],
      ${column('publisher')}::text[], ${column('sourceName')}::text[], ${changed.map(({ key }) => key.platforms.join(','))}::text[],
      ${changed.map(({ by }) => by)}::int[])
    on conflict (pool_id, severity, status, publisher, source_name, platforms) do update set n = feed_counts.n + excluded.n`.execute(
    tx,
  );
  const pools = [...new Set(changed.map(({ key }) => key.poolId))];
  await sql`delete from feed_counts where n = 0 and pool_id = any(${pools}::uuid[])`.execute(tx);
}
