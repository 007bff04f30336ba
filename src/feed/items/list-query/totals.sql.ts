import { sql } from 'kysely';
import { usesDuplicateRoots, usesOverriddenRows, type ItemFilters } from '../item-filters.ts';
import { matchesRow } from './filters.sql.ts';
import { overriddenRowsAsSeen } from './overridden-rows.sql.ts';
import { materialized, type Cte, type Sql } from './query.sql.ts';
import { changedRows, poolTable, wasCurrent } from './snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The CTE `total (n, pool_rows)`: the number of listed items, and the number of those that the branches of the pools return. Both come from
 * the counts in `feed_counts`, corrected to the snapshot by the few rows that changed since. The difference is the overridden rows and the
 * roots found through a duplicate.
 */
export function totalCte(snapshot: Snapshot, filters: ItemFilters): Cte {
  const { rootsOnly = false, ...countFilters } = filters;
  const countRows = (table: Sql): Sql => sql`(select count(*) from ${table} where ${matchesRow(filters)})`;
  const previousRows = sql`${poolTable(snapshot)} join item_states s on ${wasCurrent}`;
  const counted = sql`(
    select coalesce(sum(${rootsOnly ? sql`roots` : sql`n`}), 0) from feed_counts
    where pool_id = any(${snapshot.poolIds}::uuid[]) and ${matchesRow(countFilters, sql`string_to_array(platforms, ',')`)})`;
  const subtracted = [countRows(changedRows(snapshot))];
  const beyondPools: Sql[] = [];
  if (usesOverriddenRows(filters)) {
    subtracted.push(countRows(sql`overridden_rows`));
    beyondPools.push(countRows(overriddenRowsAsSeen));
  }
  if (usesDuplicateRoots(filters)) beyondPools.push(sql`(select count(*) from duplicate_roots)`);
  const poolRows = sql`(${counted} + ${countRows(previousRows)} - ${sql.join(subtracted, sql` - `)})::bigint`;
  // `offset 0` keeps the planner from computing `pool_rows` once for each column.
  return materialized(
    'total',
    sql`
      select pool_rows, ${sql.join([sql`pool_rows`, ...beyondPools], sql` + `)} as n
      from (select ${poolRows} as pool_rows offset 0) counts`,
  );
}
