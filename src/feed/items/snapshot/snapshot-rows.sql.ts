import { sql } from 'kysely';
import type { Condition } from './conditions.sql.ts';
import { isThroughDuplicates, type ItemFilters } from '../item-filters.ts';
import { isNarrowedByOwn, isNarrowing, ownConditions, saidAt } from '../overrides/overrides.sql.ts';
import type { View } from './snapshot.ts';

type Sql = ReturnType<typeof sql>;

/** The pools of a view with the sequence of each, to join with as `pool (id, seq)`. */
export const poolsOf = (view: View): Sql =>
  sql`unnest(${view.poolIds}::uuid[], ${view.seqs}::bigint[]) as pool (id, seq)`;

/**
 * Where the rows of a view are: an item stands in `items i` if it has not changed since, else in `item_states s` as it was then. An item
 * that came later is in neither. Both conditions need `pool` beside them.
 */
export const isCurrent: Sql = sql`i.pool_id = pool.id and i.seq <= pool.seq`;
export const wasThen: Sql = sql`s.pool_id = pool.id and s.seq_from <= pool.seq and s.seq_until > pool.seq`;

/** The same without `pool`, as conditions on `i` and on `s`: nothing is joined then, so that an index over ids serves. */
export const isListed = (view: View): { now: Sql; past: Sql } => ({
  now: anyPool(view, (pool, seq) => sql`i.pool_id = ${pool} and i.seq <= ${seq}`),
  past: anyPool(view, (pool, seq) => sql`s.pool_id = ${pool} and s.seq_from <= ${seq} and s.seq_until > ${seq}`),
});

function anyPool({ poolIds, seqs }: View, condition: (pool: Sql, seq: Sql) => Sql): Sql {
  const each = poolIds.map((id, index) => sql`(${condition(sql`${id}::uuid`, sql`${seqs[index]!}::bigint`)})`);
  return each.length === 0 ? sql`false` : sql`(${sql.join(each, sql` or `)})`;
}

/**
 * The items of a view's pools that changed after it, as a table. The numbers stand beside each pool: with a join in their place no statistics
 * say how few rows these are, and the whole pool is looked through.
 */
export const changedSince = (view: View): Sql =>
  sql`(${changedRows(view, sql`severity, status, publisher, source_name, platforms`)}) changed`;
export const changedIds = (view: View): Sql => changedRows(view, sql`i.id`);

function changedRows({ poolIds, seqs }: View, columns: Sql): Sql {
  const each = poolIds.map(
    (id, index) =>
      sql`select ${columns} from items i where i.pool_id = ${id}::uuid and i.seq > ${seqs[index]!}::bigint`,
  );
  return each.length > 0 ? sql.join(each, sql` union all `) : sql`select ${columns} from items i where false`;
}

/** Conditions on columns that no organization overrides; each begins with `and`. */
export function columnConditions({ platform, sources }: ItemFilters, platforms: Sql = sql`platforms`): Sql {
  return sql`
    ${platform === undefined ? sql`` : sql`and ${platform} = any(${platforms})`}
    ${sources === undefined ? sql`` : sql`and (publisher = any(${sources.publishers}) or source_name = any(${sources.names}))`}`;
}

/**
 * The rows of a view of which the organization says something that narrows a list, as a query: few rows, with what everyone sees of them
 * and, in columns that begin with `own_`, what the organization does.
 */
export function saidRows(view: View, own: number): Sql {
  const { now, past } = isListed(view);
  const said = sql`(select * from ${saidAt(own)} said where ${isNarrowing})`;
  const ids = sql`any(array(select item_id from ${said} said))`;
  return sql`
    select row.*, coalesce(said.severity, row.severity) as own_severity, coalesce(said.status, row.status) as own_status,
      case when said.moved then said.duplicate_of else row.duplicate_of end as own_duplicate_of
    from ${said} said join (
      select i.id, added_to_feed_at, null::bigint as seq_from, severity, status, duplicate_of, publisher, source_name, platforms
        from items i where ${now} and i.id = ${ids}
      union all
      select s.item_id, added_to_feed_at, seq_from, severity, status, duplicate_of, publisher, source_name, platforms
        from item_states s where ${past} and s.item_id = ${ids}
    ) row on row.id = said.item_id`;
}

/** Rows of `saidRows`, which stand beside it as `said_rows`, with the organization's columns in place of everyone's. */
export const ownRows: Sql = sql`(
  select id, added_to_feed_at, seq_from, own_severity as severity, own_status as status, own_duplicate_of as duplicate_of, publisher,
    source_name, platforms from said_rows) own_rows`;

/** A condition that leaves out the rows that `said_rows` holds; begins with `and`. */
export const unsaid = (isSaid: boolean, id: Sql): Sql =>
  isSaid ? sql`and ${id} not in (select id from said_rows)` : sql``;

/**
 * How a list is read. `after`: the row that it goes on behind; `oldestFirst`: from its end; `match`: what narrows it further; `scanned`: how
 * many rows of it the pools hold, so that no scan goes on when it has them.
 */
type Reading = {
  limit: Sql;
  scanned?: Sql;
  after?: { at: Date; id: string } | undefined;
  match?: Condition;
  oldestFirst?: boolean;
};

/**
 * `(id, added_to_feed_at, seq_from)` of the rows of a view in the order of the list, as a parenthesised query. `seq_from` is null for what
 * stands in `items`. Each pool is a branch of its own: an index scan that reads no document, merged with the others. Where the organization's
 * own word narrows the list, the few rows that it speaks of are a branch too, and `said_rows` must stand beside this; so must
 * `through_duplicates` where these count.
 */
export function orderedRows(view: View, { own, ...filters }: ItemFilters, given: Reading): Sql {
  const { after, limit, scanned, match, oldestFirst = false } = given;
  const most = scanned ? sql`least(${limit}, ${scanned})` : limit;
  const isSaid = own !== undefined && isNarrowedByOwn(filters);
  const direction = oldestFirst ? sql`asc` : sql`desc`;
  const behind = (id: Sql): Sql =>
    after ? sql`and (added_to_feed_at, ${id}) < (${after.at}::timestamptz, ${after.id}::uuid)` : sql``;
  const conditions = (id: Sql): Sql => sql`${columnConditions(filters)} ${ownConditions(filters, id)} ${behind(id)}`;
  const branches = view.poolIds.map((poolId, index) => {
    const [pool, seq] = [sql`${poolId}::uuid`, sql`${view.seqs[index]!}::bigint`];
    return sql`
      (select i.id, i.added_to_feed_at, null::bigint as seq_from from items i
        where i.pool_id = ${pool} and i.seq <= ${seq} ${conditions(sql`i.id`)} ${match?.now ?? sql``} ${unsaid(isSaid, sql`i.id`)}
        order by i.added_to_feed_at ${direction}, i.id ${direction} limit ${most})
      union all
      (select s.item_id, s.added_to_feed_at, s.seq_from from item_states s
        where s.pool_id = ${pool} and s.seq_from <= ${seq} and s.seq_until > ${seq} ${conditions(sql`s.item_id`)} ${match?.past ?? sql``} ${unsaid(isSaid, sql`s.item_id`)}
        order by s.added_to_feed_at ${direction}, s.item_id ${direction} limit ${most})`;
  });
  const none = sql`select null::uuid as id, null::timestamptz as added_to_feed_at, null::bigint as seq_from where false`;
  if (isSaid)
    branches.push(sql`(select id, added_to_feed_at, seq_from from ${ownRows} where true ${conditions(sql`id`)})`);
  if (isThroughDuplicates(filters))
    branches.push(sql`(select id, added_to_feed_at, seq_from from through_duplicates where true ${behind(sql`id`)})`);
  return sql`(select * from (${branches.length > 0 ? sql.join(branches, sql` union all `) : none}) found
    order by added_to_feed_at ${direction}, id ${direction} limit ${limit})`;
}

/** Columns of listed rows `page`, from where each stands. */
export const withColumns = (page: Sql, columns: string[]): Sql => {
  const read = columns.map(
    (name) =>
      sql`case when page.seq_from is null then i.${sql.ref(name)} else s.${sql.ref(name)} end as ${sql.ref(name)}`,
  );
  return sql`select page.id, page.added_to_feed_at, ${sql.join(read)} from ${page} page
    join items i on i.id = page.id left join item_states s on s.item_id = page.id and s.seq_from = page.seq_from`;
};
