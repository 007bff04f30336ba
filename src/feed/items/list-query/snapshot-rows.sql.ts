import { sql } from 'kysely';
import type { Condition, Sql, StateCondition } from './query.sql.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';

/** The pools of a snapshot as a table `pool (id, seq)`. */
export const poolTable = (snapshot: Snapshot): Sql =>
  sql`unnest(${snapshot.poolIds}::uuid[], ${snapshot.seqs}::bigint[]) as pool (id, seq)`;

/** The item of `item_states s` has changed since the snapshot. Needs `pool`. */
export const wasCurrent: Condition = sql`s.pool_id = pool.id and s.seq_from <= pool.seq and s.seq_until > pool.seq`;

/**
 * An item that has not changed since the snapshot is in `items i`. One that has is in `item_states s` as it was then. One that was added
 * later is in neither. Without a join with `pool`, so that an index on ids can be used.
 */
export const isInSnapshot = (snapshot: Snapshot): StateCondition => ({
  current: inAnyPool(snapshot, isCurrentIn),
  past: inAnyPool(snapshot, wasCurrentIn),
});

export const isCurrentIn = (pool: Sql, seq: Sql, item: Sql = sql`i`): Condition =>
  sql`${item}.pool_id = ${pool} and ${item}.seq <= ${seq}`;
export const wasCurrentIn = (pool: Sql, seq: Sql): Condition =>
  sql`s.pool_id = ${pool} and s.seq_from <= ${seq} and s.seq_until > ${seq}`;

function inAnyPool(snapshot: Snapshot, condition: (pool: Sql, seq: Sql) => Condition): Condition {
  const each = poolLiterals(snapshot).map(([pool, seq]) => sql`(${condition(pool, seq)})`);
  return each.length === 0 ? sql`false` : sql`${sql.join(each, sql` or `)}`;
}

/** Each pool of a snapshot with its sequence number, as SQL values. */
export const poolLiterals = ({ poolIds, seqs }: Snapshot): [pool: Sql, seq: Sql][] =>
  poolIds.map((id, index) => [sql`${id}::uuid`, sql`${seqs[index]!}::bigint`]);

/** The items that changed since the snapshot, as a table. */
export const changedRows = (snapshot: Snapshot): Sql =>
  sql`(${selectChanged(snapshot, sql`id, severity, status, publisher, source_name, platforms, duplicate_of`)}) changed`;

/** Repeats the query for each pool: with a join, the planner cannot estimate how few rows these are and scans the whole pool. */
function selectChanged(snapshot: Snapshot, columns: Sql): Sql {
  const each = poolLiterals(snapshot).map(
    ([pool, seq]) => sql`select ${columns} from items i where i.pool_id = ${pool} and i.seq > ${seq}`,
  );
  return each.length > 0 ? sql.join(each, sql` union all `) : sql`select ${columns} from items i where false`;
}

/** Adds columns of the snapshot's state to listed rows. `listed` is a table name or a parenthesized query. */
export const withStateColumns = (listed: Sql, columns: string[]): Sql => {
  const stateColumns = columns.map((column) => {
    const name = sql.ref(column);
    return sql`case when page.seq_from is null then i.${name} else s.${name} end as ${name}`;
  });
  return sql`select page.id, page.added_to_feed_at, ${sql.join(stateColumns)} from ${listed} page
    join items i on i.id = page.id left join item_states s on s.item_id = page.id and s.seq_from = page.seq_from`;
};
