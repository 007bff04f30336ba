import { sql } from 'kysely';
import { usesOverriddenRows, type ItemFilters } from '../item-filters.ts';
import { isOfSource, matchesRow } from './filters.sql.ts';
import { isNotOverridden, overriddenRowsAsSeen } from './overridden-rows.sql.ts';
import { allOf, materialized, withCtes, type Cte, type Sql } from './query.sql.ts';
import { isInSnapshot } from './snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/**
 * The CTE `duplicate_roots`: listed rows of the roots that are not of the wanted source themselves but have a duplicate that is. Needs
 * `overridden_rows` if `usesOverriddenRows(filters)`.
 */
export function duplicateRootsCte(snapshot: Snapshot, filters: ItemFilters): Cte {
  const { sources = { publishers: [], names: [] }, ...rootFilters } = filters;
  const hasOverridden = usesOverriddenRows(filters);
  const members = materialized(
    'members',
    sql`select duplicate_of as root from (${rowsAsSeen(snapshot, hasOverridden)}) seen
      where duplicate_of is not null and (${isOfSource(sources)})`,
  );
  const roots = rowsAsSeen(snapshot, hasOverridden, sql`select root from members`);
  return materialized(
    'duplicate_roots',
    withCtes(
      [members],
      sql`select id, added_to_feed_at, seq_from from (${roots}) seen
        where not (${isOfSource(sources)}) and ${matchesRow(rootFilters)}`,
    ),
  );
}

/** The rows of a snapshot as the organization sees them. `ids` is a query that restricts them. */
function rowsAsSeen(snapshot: Snapshot, hasOverridden: boolean, ids?: Sql): Sql {
  const { current, past } = isInSnapshot(snapshot);
  const columns = sql`added_to_feed_at, severity, status, duplicate_of, publisher, source_name, platforms`;
  const isWanted = (id: Sql) => (ids ? sql<boolean>`${id} in (${ids})` : undefined);
  // An array makes the planner look the ids up by index, whatever their number.
  const isWantedCurrent = ids && sql<boolean>`i.id = any(array(${ids}))`;
  const isShared = (id: Sql) => (hasOverridden ? isNotOverridden(id) : undefined);
  const branches = [
    sql`select i.id, null::bigint as seq_from, ${columns} from items i
      where ${allOf([current, isWantedCurrent, isShared(sql`i.id`)])}`,
    sql`select s.item_id, s.seq_from, ${columns} from item_states s
      where ${allOf([past, isWanted(sql`s.item_id`), isShared(sql`s.item_id`)])}`,
  ];
  if (hasOverridden)
    branches.push(
      sql`select id, seq_from, ${columns} from ${overriddenRowsAsSeen} where ${allOf([isWanted(sql`id`)])}`,
    );
  return sql.join(branches, sql` union all `);
}
