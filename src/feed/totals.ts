import { sql } from 'kysely';
import type { ItemFilters } from './filters.ts';
import { changedSince, columnConditions, isCurrent, ownRows, poolsOf, wasThen } from './listed.ts';
import { isNarrowedByOwn, ownConditions } from './said.ts';
import type { View } from './view.ts';

type Sql = ReturnType<typeof sql>;

/**
 * How many items a view lists: the kept counts, put back to the view's sequence numbers by the few rows that changed since, and what the
 * few rows change of which the organization says something itself (`said_rows`, beside this).
 */
export function totalOf(view: View, { own, ...filters }: ItemFilters): Sql {
  const { rootsOnly = false, ...ofCounts } = filters;
  const conditions = (given: ItemFilters, platforms?: Sql): Sql =>
    sql`${columnConditions(given, platforms)} ${ownConditions(given, sql`null`)}`;
  const count = (from: Sql, given: ItemFilters = ofCounts): Sql =>
    sql`(select count(*) from ${from} where true ${conditions(given)})`;
  const isSaid = own !== undefined && isNarrowedByOwn(filters);
  return sql`
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
    ${isSaid ? sql`+ ${count(ownRows, filters)} - ${count(sql`said_rows`, filters)}` : sql``}`;
}
