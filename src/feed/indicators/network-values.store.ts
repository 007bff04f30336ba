import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { Sql } from '../items/list-query/query.sql.ts';
import { visiblePoolIds } from '../items/visible-pools.sql.ts';
import { toInetRange, type Network } from '../model/values/networks.ts';

/**
 * Returns the distinct addresses and narrower networks inside a network that visible items contain, in their order, at most `limit`. The
 * values are read by skipping from one to the next in the index, so the cost does not depend on how many there are, or how many items contain
 * them.
 */
export async function listNetworkValues(tx: Tx, network: Network, limit: number): Promise<string[]> {
  const { first, last } = toInetRange(network);
  // Comparisons instead of `<<`, which row-level security keeps from using the index.
  const next = (after: Sql): Sql => sql`(
    select n.address, n.value from ${visiblePoolIds} p cross join lateral (
      select t.address, t.value from item_terms t
      where t.pool_id = p.id and t.address > ${after} and t.address <= ${last}::inet order by t.address limit 1) n
    order by n.address limit 1)`;
  const found = await queryRows<{ value: string }>(tx)`
    with recursive found as (
      ${next(sql`${first}::inet`)}
      union all
      select following.* from found cross join lateral ${next(sql`found.address`)} following
    )
    select value from found limit ${limit}`;
  return found.map(({ value }) => value);
}
