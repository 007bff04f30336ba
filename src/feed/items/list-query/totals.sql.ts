import { sql } from 'kysely';
import { usesDuplicateRoots, usesOverriddenRows, type ItemFilters } from '../item-filters.ts';
import { matchesRow } from './filters.sql.ts';
import { overriddenRowsAsSeen } from './overridden-rows.sql.ts';
import { materialized, type Cte, type Sql } from './query.sql.ts';
import { changedRows, isCurrent, poolTable, wasCurrent } from './snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The CTE `total (n, pool_rows)`: the number of listed items, and the number of those that the branches of the pools return. Both come from
 * the counts in `feed_counts`, corrected to the snapshot by the few rows that changed since. The difference is the overridden rows and the
 * roots found through a duplicate.
 */
export function totalCte(snapshot: Snapshot, filters: ItemFilters): Cte {
  const { rootsOnly = false, ...countFilters } = filters;
  const countRows = (table: Sql, rowFilters: ItemFilters = countFilters): Sql =>
    sql`(select count(*) from ${table} where ${matchesRow(rowFilters)})`;
  const previousRows = sql`${poolTable(snapshot)} join item_states s on ${wasCurrent}`;
  const counted = sql`(
    select coalesce(sum(n), 0) from feed_counts
    where pool_id = any(${snapshot.poolIds}::uuid[]) and ${matchesRow(countFilters, sql`string_to_array(platforms, ',')`)})`;
  const subtracted = [countRows(changedRows(snapshot))];
  // `feed_counts` does not tell roots from duplicates.
  if (rootsOnly)
    subtracted.push(
      countRows(sql`${poolTable(snapshot)} join items i on ${isCurrent} and duplicate_of is not null`),
      countRows(sql`${previousRows} and duplicate_of is not null`),
    );
  const beyondPools: Sql[] = [];
  if (usesOverriddenRows(filters)) {
    subtracted.push(countRows(sql`overridden_rows`, filters));
    beyondPools.push(countRows(overriddenRowsAsSeen, filters));
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
