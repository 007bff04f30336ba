import { sql } from 'kysely';
import type { Condition, Sql, StateCondition } from './query.sql.ts';
import type { Snapshot } from './snapshot.ts';

/** The pools of a snapshot as a table `pool (id, seq)`. */
export const poolTable = (snapshot: Snapshot): Sql =>
  sql`unnest(${snapshot.poolIds}::uuid[], ${snapshot.seqs}::bigint[]) as pool (id, seq)`;

/**
 * An item that has not changed since the snapshot is in `items i`. One that has is in `item_states s` as it was then. One that was added
 * later is in neither. Without a join with `pool`, so that an index on ids can be used.
 */
export const isInSnapshot = (snapshot: Snapshot): StateCondition => ({
  current: isCurrentInAny(snapshot, sql`i`),
  past: inAnyPool(snapshot, sql`s`, wasCurrentIn),
});

export const isCurrentIn = (pool: Sql, seq: Sql, item: Sql = sql`i`): Condition =>
  sql`${item}.pool_id = ${pool} and ${item}.seq <= ${seq}`;
export const wasCurrentIn = (pool: Sql, seq: Sql): Condition =>
  sql`s.pool_id = ${pool} and s.seq_from <= ${seq} and s.seq_until > ${seq}`;

/** The item of `item_states s` has changed since the snapshot. Needs `pool`. */
export const wasCurrent: Condition = wasCurrentIn(sql`pool.id`, sql`pool.seq`);

/** Returns the condition that a row of `items` has not changed since the snapshot. `item` is the name of the table. */
export const isCurrentInAny = (snapshot: Snapshot, item: Sql): Condition =>
  inAnyPool(snapshot, item, (pool, seq) => isCurrentIn(pool, seq, item));

function inAnyPool(snapshot: Snapshot, row: Sql, condition: (pool: Sql, seq: Sql) => Condition): Condition {
  const { poolIds, seqs } = snapshot;
  if (hasManyPools(snapshot)) {
    const pool = sql`any(${poolIds}::uuid[])`;
    return condition(pool, sql`(${seqs}::bigint[])[array_position(${poolIds}::uuid[], ${row}.pool_id)]`);
  }
  const each = poolLiterals(snapshot).map(([pool, seq]) => sql`(${condition(pool, seq)})`);
  return each.length === 0 ? sql`false` : sql`${sql.join(each, sql` or `)}`;
}

/** Returns whether a snapshot has so many pools that a branch of a query for each takes longer to plan than to run. */
export const hasManyPools = ({ poolIds }: Snapshot): boolean => poolIds.length > 8;

/** Each pool of a snapshot with its sequence number, as SQL values. */
const poolLiterals = ({ poolIds, seqs }: Snapshot): [pool: Sql, seq: Sql][] =>
  poolIds.map((id, index) => [sql`${id}::uuid`, sql`${seqs[index]!}::bigint`]);

/** Returns the parenthesized queries that `queriesOf` has for a pool, for all pools of a snapshot: branches to join with `union all`. */
export function branchesOfPools(snapshot: Snapshot, queriesOf: (pool: Sql, seq: Sql) => Sql[]): Sql[] {
  if (!hasManyPools(snapshot)) return poolLiterals(snapshot).flatMap(([pool, seq]) => queriesOf(pool, seq));
  const queries = queriesOf(sql`pool.id`, sql`pool.seq`);
  return [
    sql`(select rows.* from ${poolTable(snapshot)} cross join lateral (${sql.join(queries, sql` union all `)}) rows)`,
  ];
}

/** The items that changed since the snapshot, as a table. */
export const changedRows = (snapshot: Snapshot): Sql => sql`(
  select id, severity, status, publisher, source_name, platforms, duplicate_of from items i where i.id = any(array(${changedIds(snapshot)}))) changed`;

/**
 * Ids of the items that changed since the snapshot, as a query. It needs no other column, so that the planner reads the index in the order of
 * changes. It cannot estimate how few the items are, and would read the whole list of a pool for more columns.
 */
export const changedIds = (snapshot: Snapshot): Sql => sql`
  select changed.id from ${poolTable(snapshot)} cross join lateral (
    select i.id from items i where i.pool_id = pool.id and i.seq > pool.seq offset 0) changed`;

/** Adds columns of the snapshot's state to listed rows. `listed` is a table name or a parenthesized query. */
export const withStateColumns = (listed: Sql, columns: string[]): Sql => {
  const stateColumns = columns.map((column) => {
    const name = sql.ref(column);
    return sql`case when page.seq_from is null then i.${name} else s.${name} end as ${name}`;
  });
  return sql`select page.id, page.added_to_feed_at, ${sql.join(stateColumns)} from ${listed} page
    join items i on i.id = page.id left join item_states s on s.item_id = page.id and s.seq_from = page.seq_from`;
};
