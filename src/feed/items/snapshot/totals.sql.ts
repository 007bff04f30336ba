import { sql } from 'kysely';
import { isThroughDuplicates, type ItemFilters } from '../item-filters.ts';
import { changedSince, columnConditions, isCurrent, ownRows, poolsOf, wasThen } from './snapshot-rows.sql.ts';
import { isNarrowedByOwn, ownConditions } from '../overrides/overrides.sql.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/**
 * `(n, scanned)`, as a query: how many items a view lists, and how many of them its pools hold as they are listed. They come from the kept
 * counts, put back to the view's sequence numbers by the few rows that changed since. The others are those of which the organization says
 * something itself, and those found through a duplicate; `said_rows` and `through_duplicates` stand beside this where the list asks for them.
 */
export function totalOf(view: View, { own, ...filters }: ItemFilters): Sql {
  const { rootsOnly = false, ...ofCounts } = filters;
  const conditions = (given: ItemFilters, platforms?: Sql): Sql =>
    sql`${columnConditions(given, platforms)} ${ownConditions(given, sql`null`)}`;
  const count = (from: Sql, given: ItemFilters = ofCounts): Sql =>
    sql`(select count(*) from ${from} where true ${conditions(given)})`;
  const isSaid = own !== undefined && isNarrowedByOwn(filters);
  // `offset 0` keeps the counts from being made once for each column.
  return sql`
    select scanned, scanned
      ${isSaid ? sql`+ ${count(ownRows, filters)}` : sql``}
      ${isThroughDuplicates(filters) ? sql`+ (select count(*) from through_duplicates)` : sql``} as n
    from (select (
      (select coalesce(sum(n), 0) from feed_counts
        where pool_id = any(${view.poolIds}::uuid[]) ${conditions(ofCounts, sql`string_to_array(platforms, ',')`)})
      - ${count(changedSince(view))}
      + ${count(sql`${poolsOf(view)} join item_states s on ${wasThen}`)}
      ${
        rootsOnly
          ? sql`
      - ${count(sql`${poolsOf(view)} join items i on ${isCurrent} and duplicate_of is not null`)}
      - ${count(sql`${poolsOf(view)} join item_states s on ${wasThen} and duplicate_of is not null`)}`
          : sql``
      }
      ${isSaid ? sql`- ${count(sql`said_rows`, filters)}` : sql``})::bigint as scanned offset 0) kept`;
}
