import { sql } from 'kysely';
import { usesDuplicateRoots, usesOverriddenRows, type ItemFilters } from '../item-filters.ts';
import { matchesRow } from './filters.sql.ts';
import { isNotOverridden, overriddenRowsAsSeen } from './overridden-rows.sql.ts';
import type { PageCursor } from '../../../platform/lib/page-request.ts';
import { allOf, type Condition, type Sql, type StateCondition } from './query.sql.ts';
import { isCurrentIn, poolLiterals, wasCurrentIn } from './snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

export type ScanOptions = {
  limit: Sql;
  /** How many matching rows the pools have. A scan stops when it has found them all. */
  poolRows?: Sql;
  /** The scan begins after this row. */
  after?: PageCursor | undefined;
  /** The scan has no row after this one in the order of the list. */
  until?: PageCursor | undefined;
  /** A further condition on the rows. */
  match?: StateCondition;
  oldestFirst?: boolean;
};

/**
 * Returns the listed rows of a snapshot in the order of the list, as a parenthesized query. Each pool has its own branches: index scans that
 * read no document and are merged. Overridden rows and roots found through a duplicate are branches of their own, which need the CTEs
 * `overridden_rows` and `duplicate_roots`.
 */
export function orderedRows(snapshot: Snapshot, filters: ItemFilters, options: ScanOptions): Sql {
  const { after, until, limit, poolRows, match, oldestFirst = false } = options;
  const direction = oldestFirst ? sql`asc` : sql`desc`;
  const branchLimit = poolRows ? sql`least(${limit}, ${poolRows})` : limit;
  const hasOverridden = usesOverriddenRows(filters);
  const isWithin = (id: Sql): Condition =>
    allOf([
      after && sql`(added_to_feed_at, ${id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      until && sql`(added_to_feed_at, ${id}) >= (${until.at}::timestamptz, ${until.id}::uuid)`,
    ]);
  const matches = (id: Sql, stateMatch: Condition | undefined): Condition =>
    allOf([matchesRow(filters), isWithin(id), stateMatch, hasOverridden ? isNotOverridden(id) : undefined]);
  const branches = poolLiterals(snapshot).flatMap(([pool, seq]) => [
    sql`
      (select i.id, i.added_to_feed_at, null::bigint as seq_from from items i
        where ${isCurrentIn(pool, seq)} and ${matches(sql`i.id`, match?.current)}
        order by i.added_to_feed_at ${direction}, i.id ${direction} limit ${branchLimit})`,
    sql`
      (select s.item_id, s.added_to_feed_at, s.seq_from from item_states s
        where ${wasCurrentIn(pool, seq)} and ${matches(sql`s.item_id`, match?.past)}
        order by s.added_to_feed_at ${direction}, s.item_id ${direction} limit ${branchLimit})`,
  ]);
  // In order before the condition, which is then evaluated only for rows that the list gets to.
  if (hasOverridden)
    branches.push(sql`
      (select id, added_to_feed_at, seq_from from (
          select * from ${overriddenRowsAsSeen} where ${allOf([matchesRow(filters), isWithin(sql`id`)])}
          order by added_to_feed_at ${direction}, id ${direction} offset 0) as_seen
        where ${allOf([match && overriddenRowMatches(match)])}
        order by added_to_feed_at ${direction}, id ${direction} limit ${limit})`);
  if (usesDuplicateRoots(filters))
    branches.push(sql`
      (select id, added_to_feed_at, seq_from from duplicate_roots where ${isWithin(sql`id`)})`);
  return sql`(select * from (${branches.length > 0 ? sql.join(branches, sql` union all `) : noRows}) listed
    order by added_to_feed_at ${direction}, id ${direction} limit ${limit})`;
}

/** Applies the condition to the state of an item that a row of `overriddenRowsAsSeen` stands for. */
const overriddenRowMatches = ({ current, past }: StateCondition): Condition => sql`
  case when seq_from is null then exists (select from items i where i.id = as_seen.id and ${allOf([current])})
    else exists (select from item_states s where s.item_id = as_seen.id and s.seq_from = as_seen.seq_from and ${allOf([past])}) end`;

const noRows = sql`select null::uuid as id, null::timestamptz as added_to_feed_at, null::bigint as seq_from where false`;
