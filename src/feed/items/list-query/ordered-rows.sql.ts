import { sql } from 'kysely';
import {
  isNotOverridden,
  type ItemFilters,
  matchesRow,
  overriddenRowsAsSeen,
  usesDuplicateRoots,
  usesOverriddenRows,
} from './filters.sql.ts';
import type { PageCursor } from '../../../platform/lib/page-request.ts';
import { allOf, type Condition, type Sql, type StateCondition } from '../snapshot/query.sql.ts';
import { branchesOfPools, isCurrentIn, wasCurrentIn } from '../snapshot/snapshot-rows.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

type RowsOptions = {
  /** Rows after this one in the order of the list. */
  after?: PageCursor | undefined;
  /** Rows up to this one in the order of the list. */
  until?: PageCursor | undefined;
  /** A further condition on the rows. */
  match?: StateCondition | undefined;
};

type ScanOptions = RowsOptions & {
  limit: Sql;
  /** How many matching rows the pools have. A scan stops when it has found them all. */
  poolRows?: Sql;
  oldestFirst?: boolean;
};

/** How many rows each branch of a query returns, and in which order. */
type BranchEnd = (columns: { at: Sql; id: Sql }) => Sql;

/**
 * Returns the listed rows of a snapshot in the order of the list, as a parenthesized query. Each pool has its own branches: index scans that
 * read no document and are merged, or sorted if there are many. Overridden rows and roots found through a duplicate are branches of their own,
 * which need the CTEs `overridden_rows` and `duplicate_roots`.
 */
export function orderedRows(snapshot: Snapshot, filters: ItemFilters, options: ScanOptions): Sql {
  const { limit, poolRows, oldestFirst = false } = options;
  const direction = oldestFirst ? sql`asc` : sql`desc`;
  const inOrder: BranchEnd = ({ at, id }) => sql`order by ${at} ${direction}, ${id} ${direction}`;
  const poolLimit = poolRows ? sql`least(${limit}, ${poolRows})` : limit;
  const branches = branchesOf(snapshot, filters, {
    ...options,
    poolEnd: (columns) => sql`${inOrder(columns)} limit ${poolLimit}`,
    overriddenEnd: (columns) => sql`${inOrder(columns)} limit ${limit}`,
    inOrder,
  });
  return sql`(select * from (${branches}) listed
    order by added_to_feed_at ${direction}, id ${direction} limit ${limit})`;
}

/** Returns all listed rows of a snapshot, in no order, as a parenthesized query. Has the same branches as `orderedRows`. */
export const allRows = (snapshot: Snapshot, filters: ItemFilters, options: RowsOptions): Sql =>
  sql`(${branchesOf(snapshot, filters, { ...options, poolEnd: () => sql``, overriddenEnd: () => sql``, inOrder: () => sql`` })})`;

type BranchOptions = RowsOptions & { poolEnd: BranchEnd; overriddenEnd: BranchEnd; inOrder: BranchEnd };

function branchesOf(snapshot: Snapshot, filters: ItemFilters, options: BranchOptions): Sql {
  const { after, until, match, poolEnd, overriddenEnd, inOrder } = options;
  const hasOverridden = usesOverriddenRows(filters);
  const isWithin = (id: Sql): Condition =>
    allOf([
      after && sql`(added_to_feed_at, ${id}) < (${after.at}::timestamptz, ${after.id}::uuid)`,
      until && sql`(added_to_feed_at, ${id}) >= (${until.at}::timestamptz, ${until.id}::uuid)`,
    ]);
  const matches = (id: Sql, stateMatch: Condition | undefined): Condition =>
    allOf([matchesRow(filters), isWithin(id), stateMatch, hasOverridden ? isNotOverridden(id) : undefined]);
  const current = { at: sql`i.added_to_feed_at`, id: sql`i.id` };
  const past = { at: sql`s.added_to_feed_at`, id: sql`s.item_id` };
  const listed = { at: sql`added_to_feed_at`, id: sql`id` };
  const branches = branchesOfPools(snapshot, (pool, seq) => [
    sql`
      (select i.id, i.added_to_feed_at, null::bigint as seq_from from items i
        where ${isCurrentIn(pool, seq)} and ${matches(current.id, match?.current)} ${poolEnd(current)})`,
    sql`
      (select s.item_id, s.added_to_feed_at, s.seq_from from item_states s
        where ${wasCurrentIn(pool, seq)} and ${matches(past.id, match?.past)} ${poolEnd(past)})`,
  ]);
  // In order before the condition, which is then evaluated only for rows that the list gets to.
  if (hasOverridden)
    branches.push(sql`
      (select id, added_to_feed_at, seq_from from (
          select * from ${overriddenRowsAsSeen} where ${allOf([matchesRow(filters), isWithin(listed.id)])}
          ${inOrder(listed)} offset 0) as_seen
        where ${allOf([match && overriddenRowMatches(match)])} ${overriddenEnd(listed)})`);
  if (usesDuplicateRoots(filters))
    branches.push(sql`
      (select id, added_to_feed_at, seq_from from duplicate_roots where ${isWithin(listed.id)})`);
  return branches.length > 0 ? sql.join(branches, sql` union all `) : noRows;
}

/** Applies the condition to the state of an item that a row of `overriddenRowsAsSeen` stands for. */
const overriddenRowMatches = ({ current, past }: StateCondition): Condition => sql`
  case when seq_from is null then exists (select from items i where i.id = as_seen.id and ${allOf([current])})
    else exists (select from item_states s where s.item_id = as_seen.id and s.seq_from = as_seen.seq_from and ${allOf([past])}) end`;

const noRows = sql`select null::uuid as id, null::timestamptz as added_to_feed_at, null::bigint as seq_from where false`;
