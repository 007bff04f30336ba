import { sql } from 'kysely';
import type { ItemFilters } from './filters.ts';
import { changedSince, columnConditions, isCurrent, poolsOf, wasThen } from './listed.ts';
import { ownConditions, saidAt } from './said.ts';
import type { View } from './view.ts';

type Sql = ReturnType<typeof sql>;

/**
 * How many items a view lists: the kept counts, put back to the view's sequence numbers by the few rows that changed since, and what the
 * few rows change of which the organization says something itself.
 */
export function totalOf(view: View, { own, ...filters }: ItemFilters): Sql {
  const { rootsOnly = false, ...ofCounts } = filters;
  const conditions = (given: ItemFilters, platforms?: Sql): Sql =>
    sql`${columnConditions(given, platforms)} ${ownConditions(given, sql`null`)}`;
  const count = (from: Sql, given: ItemFilters = ofCounts): Sql =>
    sql`(select count(*) from ${from} where true ${conditions(given)})`;
  const { severity, status } = filters;
  const isSaid = rootsOnly || severity !== undefined || status !== undefined;
  const said = own === undefined || !isSaid ? undefined : saidRows(view, own);
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
    ${said ? sql`+ ${count(said.own, filters)} - ${count(said.shared, filters)}` : sql``}`;
}

/** The rows of a view of which the organization says something that counts: as it sees them, and as everyone does. As tables. */
export function saidRows(view: View, own: number): { own: Sql; shared: Sql } {
  const table = (severity: Sql, status: Sql, root: Sql): Sql => sql`(
    select ${severity} as severity, ${status} as status, ${root} as duplicate_of, row.publisher, row.source_name, row.platforms
    from ${saidAt(own)} said cross join lateral (
      select severity, status, duplicate_of, publisher, source_name, platforms from items i join ${poolsOf(view)} on ${isCurrent}
        where i.id = said.item_id
      union all
      select severity, status, duplicate_of, publisher, source_name, platforms from item_states s join ${poolsOf(view)} on ${wasThen}
        where s.item_id = said.item_id
    ) row where said.severity is not null or said.status is not null or said.moved) said_rows`;
  return {
    own: table(
      sql`coalesce(said.severity, row.severity)`,
      sql`coalesce(said.status, row.status)`,
      sql`case when said.moved then said.duplicate_of else row.duplicate_of end`,
    ),
    shared: table(sql`row.severity`, sql`row.status`, sql`row.duplicate_of`),
  };
}
