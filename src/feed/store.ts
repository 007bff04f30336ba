import { sql } from 'kysely';
import { row, rows, type Tx } from '../db/db.ts';
import type { Mark } from './marks.ts';

export type PoolVersion = [id: string, seq: number];

/** Which pools the transaction's organization sees; row-level security says the same once more. */
const isVisible = sql`(kind = 'public' or organization_id = tocsin_org() or (kind = 'assigned' and tocsin_org() = any(assigned_to)))`;
const visiblePools = sql`(select coalesce(json_agg(json_build_array(id, seq) order by id), '[]') from feed_pools where ${isVisible})`;

export async function readPools(tx: Tx): Promise<PoolVersion[]> {
  const found = await row(tx, sql<{ pools: PoolVersion[] }>`select ${visiblePools} as pools`);
  return found?.pools ?? [];
}

/** `sources` narrows to items whose publisher or source name is among them. */
export type ItemFilters = {
  severity?: string;
  status?: string;
  platform?: string;
  sources?: { publishers: string[]; names: string[] };
};

/** `end` is the last row of the page. */
export type PageRows = {
  pools: PoolVersion[];
  total: number;
  docs: { doc: string; nextExpiryAt: Date | null }[];
  end: Mark | undefined;
};

type PageRow = {
  pools: PoolVersion[];
  total: number;
  id: string | null;
  added_to_feed_at: Date;
  doc: string;
  next_expiry_at: Date | null;
};

/**
 * One page with its total and the view that both belong to, all of one snapshot. The total comes from the kept counts; the page from one index
 * scan per pool that reads no document before the page is known. Past the end nothing is scanned. `after` is the row that stands at `offset`,
 * where it is known: the scan then begins there.
 */
export async function readItemsPage(
  tx: Tx,
  given: { poolIds: string[]; filters: ItemFilters; limit: number; offset: number; after?: Mark | undefined },
): Promise<PageRows> {
  const { poolIds, filters, limit, offset, after } = given;
  const passed = after ? 0 : offset;
  const found = await rows(
    tx,
    sql<PageRow>`
      with total as materialized (
        select coalesce(sum(n), 0) as n from feed_counts c where pool_id = any(${poolIds}::uuid[])
          ${conditions(filters, sql`${filters.platform ?? ''} = any(string_to_array(c.platforms, ','))`)}
      ), page as (
        select found.id, found.added_to_feed_at from unnest(${poolIds}::uuid[]) as pool (id) cross join lateral (
          select i.id, i.added_to_feed_at from items i
          where i.pool_id = pool.id ${conditions(filters, sql`${filters.platform ?? ''} = any(i.platforms)`)}
            ${after ? sql`and (i.added_to_feed_at, i.id) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``}
          order by i.added_to_feed_at desc, i.id desc
          limit (select case when n > ${offset} then ${passed + limit}::bigint else 0 end from total)
        ) found
        order by found.added_to_feed_at desc, found.id desc limit ${limit} offset ${passed}
      )
      select ${visiblePools} as pools, total.n as total, item.*
      from total left join (
        select page.id, page.added_to_feed_at, i.doc, i.next_expiry_at from page join items i on i.id = page.id
      ) item on true
      order by item.added_to_feed_at desc, item.id desc`,
  );
  const page = found.filter(({ id }) => id !== null);
  const last = page.at(-1);
  return {
    pools: found[0]?.pools ?? [],
    total: found[0]?.total ?? 0,
    docs: page.map(({ doc, next_expiry_at }) => ({ doc, nextExpiryAt: next_expiry_at })),
    end: last && { at: last.added_to_feed_at, id: last.id! },
  };
}

function conditions(filters: ItemFilters, platform: ReturnType<typeof sql>): ReturnType<typeof sql> {
  const { severity, status, sources } = filters;
  return sql`
    ${severity === undefined ? sql`` : sql`and severity = ${severity}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${filters.platform === undefined ? sql`` : sql`and ${platform}`}
    ${sources === undefined ? sql`` : sql`and (publisher = any(${sources.publishers}) or source_name = any(${sources.names}))`}`;
}

/** Every publisher and source name that the organization's items have. */
export function listSourceNames(tx: Tx, poolIds: string[]): Promise<{ publisher: string; source_name: string }[]> {
  return rows(
    tx,
    sql<{
      publisher: string;
      source_name: string;
    }>`select distinct publisher, source_name from feed_counts where pool_id = any(${poolIds}::uuid[])`,
  );
}

export type CountRow = { severity: string; platforms: string; publisher: string; n: number };

export function listCounts(tx: Tx, poolIds: string[]): Promise<CountRow[]> {
  return rows(
    tx,
    sql<CountRow>`
      select severity, platforms, publisher, sum(n) as n from feed_counts where pool_id = any(${poolIds}::uuid[])
      group by severity, platforms, publisher`,
  );
}

export type RecentRow = { id: string; title: string; severity: string; at: Date };

export async function readRecent(
  tx: Tx,
  poolIds: string[],
  limit: number,
): Promise<{ pools: PoolVersion[]; recent: RecentRow[] }> {
  const found = await rows(
    tx,
    sql<{ pools: PoolVersion[] } & { [K in keyof RecentRow]: RecentRow[K] | null }>`
      select pools.list as pools, item.id, item.title, item.severity, coalesce(item.publish_time, item.added_to_feed_at) as at
      from (select ${visiblePools} as list) pools left join (
        select found.* from unnest(${poolIds}::uuid[]) as pool (id) cross join lateral (
          select i.id, i.added_to_feed_at, i.title, i.severity, i.publish_time from items i
          where i.pool_id = pool.id order by i.added_to_feed_at desc, i.id desc limit ${limit}
        ) found
        order by found.added_to_feed_at desc, found.id desc limit ${limit}
      ) item on true
      order by item.added_to_feed_at desc, item.id desc`,
  );
  return {
    pools: found[0]?.pools ?? [],
    recent: found.filter((item): item is typeof item & RecentRow => item.id !== null),
  };
}

export function findItem(
  tx: Tx,
  id: string,
): Promise<{ doc: string; next_expiry_at: Date | null; related: string[] } | undefined> {
  return row(
    tx,
    sql<{ doc: string; next_expiry_at: Date | null; related: string[] }>`
      select doc, next_expiry_at,
        related || array(select later.id from items later where later.pool_id in (select id from feed_pools where ${isVisible}) and items.id = any(later.related)
          and later.source_id = items.source_id) as related
      from items where id = ${id} and pool_id in (select id from feed_pools where ${isVisible})`,
  );
}

export function listVersions(
  tx: Tx,
  id: string,
): Promise<{ version: number; cause: string; changed: string[]; at: Date }[]> {
  return rows(
    tx,
    sql<{ version: number; cause: string; changed: string[]; at: Date }>`
      select version, cause, changed, at from item_versions
      where item_id = ${id} and pool_id in (select id from feed_pools where ${isVisible}) order by version desc limit 1000`,
  );
}
