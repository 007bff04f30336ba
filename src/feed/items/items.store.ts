import { sql } from 'kysely';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import {
  changedSince,
  orderedRows,
  ownRows,
  poolsOf,
  saidRows,
  wasThen,
  withColumns,
} from './snapshot/snapshot-rows.sql.ts';
import { saidAt } from './overrides/overrides.sql.ts';
import type { View } from './snapshot/snapshot.ts';

type Sql = ReturnType<typeof sql>;

export type PoolVersion = [id: string, seq: number];

/** The pools whose items the organization of the transaction sees. */
export const isVisible = sql`(kind = 'public' or organization_id = tocsin_org() or (kind = 'assigned' and tocsin_org() = any(assigned_to)))`;

/** Which pools the transaction's organization sees; row-level security says the same once more. */
export async function readPools(tx: Tx): Promise<PoolVersion[]> {
  const found = await rows(
    tx,
    sql<{ id: string; seq: number }>`select id, seq from feed_pools where ${isVisible} order by id`,
  );
  return found.map(({ id, seq }) => [id, seq]);
}

/** The key that `asOf` strings are sealed with. */
export async function readFeedKey(tx: Tx): Promise<Buffer> {
  const found = await row(tx, sql<{ key: Buffer }>`select key from feed_key`);
  return found!.key;
}

/** Every publisher and source name that the items of a view have, or had until a moment ago. */
export function listSourceNames(tx: Tx, view: View): Promise<{ publisher: string; source_name: string }[]> {
  return rows(
    tx,
    sql<{ publisher: string; source_name: string }>`
      select publisher, source_name from feed_counts where pool_id = any(${view.poolIds}::uuid[])
      union select s.publisher, s.source_name from ${poolsOf(view)} join item_states s on ${wasThen}`,
  );
}

export type CountRow = { severity: string; platforms: string; publisher: string; n: number };

/** How many items of a view there are of each kind, with the organization's own severities where `own` is where its pool stands. */
export function listCounts(tx: Tx, view: View, own: number | undefined): Promise<CountRow[]> {
  const change = (from: Sql, n: number): Sql =>
    sql`union all select severity, array_to_string(platforms, ','), publisher, ${sql.lit(n)} from ${from}`;
  return rows(
    tx,
    sql<CountRow>`
      ${own === undefined ? sql`` : sql`with said_rows as materialized (${saidRows(view, own)})`}
      select severity, platforms, publisher, sum(n) as n from (
        select severity, platforms, publisher, n from feed_counts where pool_id = any(${view.poolIds}::uuid[])
        union all select severity, array_to_string(platforms, ','), publisher, -1 from ${changedSince(view)}
        union all select severity, array_to_string(platforms, ','), publisher, 1 from ${poolsOf(view)} join item_states s on ${wasThen}
        ${own === undefined ? sql`` : sql`${change(sql`said_rows`, -1)} ${change(ownRows, 1)}`}
      ) counted group by severity, platforms, publisher having sum(n) <> 0`,
  );
}

export type RecentRow = {
  id: string;
  title: string;
  severity: string;
  publish_time: Date | null;
  added_to_feed_at: Date;
};

/** The first items of a view. */
export function listRecent(
  tx: Tx,
  view: View,
  { own, limit }: { own: number | undefined; limit: number },
): Promise<RecentRow[]> {
  const listed = withColumns(orderedRows(view, {}, { limit: sql`${limit}` }), ['title', 'severity', 'publish_time']);
  const severity = own === undefined ? sql`recent.severity` : sql`coalesce(said.severity, recent.severity)`;
  return rows(
    tx,
    sql<RecentRow>`
      select recent.id, recent.title, ${severity} as severity, recent.publish_time, recent.added_to_feed_at from (${listed}) recent
      ${own === undefined ? sql`` : sql`left join ${saidAt(own)} said on said.item_id = recent.id`}
      order by recent.added_to_feed_at desc, recent.id desc`,
  );
}

export function findItem(
  tx: Tx,
  id: string,
): Promise<{ doc: string; next_expiry_at: Date | null; related: string[] } | undefined> {
  return row(
    tx,
    sql<{ doc: string; next_expiry_at: Date | null; related: string[] }>`
      select doc, next_expiry_at,
        array(select earlier.id from items earlier where earlier.pool_id in (select id from feed_pools where ${isVisible})
          and earlier.id = any(items.related))
        || array(select later.id from items later where later.pool_id in (select id from feed_pools where ${isVisible}) and items.id = any(later.related)
          and (later.source_id, later.record_id) = (items.source_id, items.record_id)) as related
      from items where id = ${id} and pool_id in (select id from feed_pools where ${isVisible})`,
  );
}

export function listVersions(
  tx: Tx,
  id: string,
): Promise<{ version: number; cause: string; changed: string[]; at: Date; note: string | null }[]> {
  return rows(
    tx,
    sql<{ version: number; cause: string; changed: string[]; at: Date; note: string | null }>`
      select version, cause, changed, at, note from item_versions
      where item_id = ${id} and pool_id in (select id from feed_pools where ${isVisible}) order by version desc limit 1000`,
  );
}
