import { sql } from 'kysely';
import { overriddenIds, overridesAt } from '../snapshot/override-rows.store.ts';
import { allOf, type Condition, type Cte, materialized, type Sql, withCtes } from '../snapshot/query.sql.ts';
import { isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** Publishers and source names, either of which may match. */
export type SourceFilter = { publishers: string[]; names: string[] };

/** Instants as ISO text: the first one within, and the first one after. */
export type Published = { from?: string; until?: string };

/** The filters of a list by the columns of an item. */
export type ItemFilters = {
  severity?: string;
  status?: string;
  platform?: string;
  sources?: SourceFilter;
  /** When items were published, or else added. Only a search has this filter: `feed_counts` has no times. */
  published?: Published;
  /** Leaves duplicates out. */
  rootsOnly?: boolean;
  /** Sequence number of the organization's private pool at which its overrides apply. Absent when the organization has no overrides. */
  overridesSeq?: number;
};

/** Returns whether overrides decide which items a list contains: only severity, status and the root of an item can be overridden. */
export const usesOverriddenRows = ({ overridesSeq, severity, status, rootsOnly = false }: ItemFilters): boolean =>
  overridesSeq !== undefined && (rootsOnly || severity !== undefined || status !== undefined);

/** Returns whether the list also contains roots that only a duplicate of theirs connects to the wanted source. */
export const usesDuplicateRoots = ({ rootsOnly = false, sources }: ItemFilters): boolean =>
  rootsOnly && sources !== undefined;

/** Returns whether a list leaves out any item of its pools. */
export const hasFilters = ({ overridesSeq: _overridesSeq, rootsOnly = false, ...columns }: ItemFilters): boolean =>
  rootsOnly || Object.values(columns).some((value) => value !== undefined);

/** Compares a row's own columns with the filters, without overrides. `platforms` is the array to search. */
export const matchesRow = (
  { platform, sources, published, severity, status, rootsOnly }: ItemFilters,
  platforms: Sql = sql`platforms`,
): Condition =>
  allOf([
    platform === undefined ? undefined : sql`${platform} = any(${platforms})`,
    sources && isOfSource(sources),
    published && isPublished(published),
    severity === undefined ? undefined : hasValue('severity', severity),
    status === undefined ? undefined : hasValue('status', status),
    rootsOnly ? isRoot : undefined,
  ]);

/**
 * Like `matchesRow`, but the organization's override of a column wins over the row. In a `case`, so that the few overrides are looked up in
 * memory and the list stays one scan.
 */
export const matchesAsOverridden = (filters: ItemFilters, id: Sql): Condition => {
  const { severity, status, rootsOnly, overridesSeq, ...fixedFilters } = filters;
  if (overridesSeq === undefined) return matchesRow(filters);
  const overridden = (own: { isSet: Condition; matches: Condition }, shared: Condition): Condition => sql`
    case when ${id} in ${overriddenIds(overridesSeq, own.isSet)} then ${id} in ${overriddenIds(overridesSeq, own.matches)} else ${shared} end`;
  const overriddenValue = (column: 'severity' | 'status', value: string): Condition => {
    const own = sql.ref(`o.${column}`);
    return overridden({ isSet: sql`${own} is not null`, matches: sql`${own} = ${value}` }, hasValue(column, value));
  };
  return allOf([
    matchesRow(fixedFilters),
    severity === undefined ? undefined : overriddenValue('severity', severity),
    status === undefined ? undefined : overriddenValue('status', status),
    rootsOnly
      ? overridden({ isSet: sql`o.moved`, matches: sql`o.moved and o.duplicate_of is null` }, isRoot)
      : undefined,
  ]);
};

export const isOfSource = ({ publishers, names }: SourceFilter): Condition =>
  sql`publisher = any(${publishers}) or source_name = any(${names})`;

/** An item is added after it is published, which an index on the times of the list makes use of. */
const isPublished = ({ from, until }: Published): Condition =>
  allOf([
    from === undefined
      ? undefined
      : sql`coalesce(publish_time, added_to_feed_at) >= ${from}::timestamptz and added_to_feed_at >= ${from}::timestamptz`,
    until === undefined ? undefined : sql`coalesce(publish_time, added_to_feed_at) < ${until}::timestamptz`,
  ]);

const hasValue = (column: 'severity' | 'status', value: string): Condition => sql`${sql.ref(column)} = ${value}`;
const isRoot: Condition = sql`duplicate_of is null`;

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
  const columns = sql`added_to_feed_at, publish_time, severity, status, duplicate_of, publisher, source_name, platforms`;
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
        select i.id, added_to_feed_at, publish_time, null::bigint as seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from items i where (${current}) and i.id = ${ids}
        union all
        select s.item_id, added_to_feed_at, publish_time, seq_from, severity, status, duplicate_of, publisher, source_name, platforms
          from item_states s where (${past}) and s.item_id = ${ids}
      ) row on row.id = o.item_id`,
  );
}

/** `overridden_rows` with the organization's values in the shared columns, as a table. */
export const overriddenRowsAsSeen: Sql = sql`(
  select id, added_to_feed_at, publish_time, seq_from, own_severity as severity, own_status as status, own_duplicate_of as duplicate_of, publisher,
    source_name, platforms from overridden_rows) as_seen`;

/** Leaves out the items of `overridden_rows`. */
export const isNotOverridden = (id: Sql): Condition => sql`${id} not in (select id from overridden_rows)`;
