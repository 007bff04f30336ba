import { sql } from 'kysely';
import { usesDuplicateRoots, usesOverriddenRows, type ItemFilters, isOfSource, matchesRow } from './filters.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { type Cte, allOf, materialized, withCtes, type Sql, type Condition } from '../snapshot/query.sql.ts';
import { isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import { overridesAt } from '../snapshot/override-rows.store.ts';

/** Returns the CTEs that `orderedRows` needs for the filters. */
export function filterCtes(snapshot: Snapshot, filters: ItemFilters): Cte[] {
  const { overridesSeq } = filters;
  return [
    ...(overridesSeq !== undefined && usesOverriddenRows(filters) ? [overriddenRowsCte(snapshot, overridesSeq)] : []),
    ...(usesDuplicateRoots(filters) ? [duplicateRootsCte(snapshot, filters)] : []),
  ];
}

/**
 * The CTE `duplicate_roots`: listed rows of the roots that are not of the wanted source themselves but have a duplicate that is. Needs
 * `overridden_rows` if `usesOverriddenRows(filters)`.
 */
function duplicateRootsCte(snapshot: Snapshot, filters: ItemFilters): Cte {
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

/**
 * The CTE `overridden_rows`: the snapshot's rows whose severity, status or root the organization overrides. These are few. The shared columns
 * keep their values, and the columns that begin with `own_` have the organization's.
 */
export function overriddenRowsCte(snapshot: Snapshot, overridesSeq: number): Cte {
  const { current, past } = isInSnapshot(snapshot);
  const overrides = sql`(
    select * from ${overridesAt(overridesSeq)} o where o.severity is not null or o.status is not null or o.moved)`;
  const ids = sql`any(array(select item_id from ${overrides} o))`;
  return materialized(
    'overridden_rows',
    sql`
      select row.*, coalesce(o.severity, row.severity) as own_severity, coalesce(o.status, row.status) as own_status,
        case when o.moved then o.duplicate_of else row.duplicate_of end as own_duplicate_of
      from ${overrides} o join (
        select i.id, added_to_feed_at, null::bigint as seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from items i where (${current}) and i.id = ${ids}
        union all
        select s.item_id, added_to_feed_at, seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from item_states s where (${past}) and s.item_id = ${ids}
      ) row on row.id = o.item_id`,
  );
}

/** `overridden_rows` with the organization's values in the shared columns, as a table. */
export const overriddenRowsAsSeen: Sql = sql`(
  select id, added_to_feed_at, seq_from, own_severity as severity, own_status as status, own_duplicate_of as duplicate_of, publisher,
    source_name, platforms from overridden_rows) as_seen`;

/** Leaves out the items of `overridden_rows`. */
export const isNotOverridden = (id: Sql): Condition => sql`${id} not in (select id from overridden_rows)`;
