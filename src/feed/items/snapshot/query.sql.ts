import { sql, type RawBuilder } from 'kysely';

/**
 * The parts of the snapshot queries. Each fragment is a named function that returns a whole condition, query or CTE.
 *
 * Aliases that conditions refer to:
 * - `i`: a row of `items`, the current state of an item.
 * - `s`: a row of `item_states`, a previous state, valid from `seq_from` until before `seq_until`.
 * - `o`: a row of the organization's overrides (`overridesAt`).
 * - `pool (id, seq)`: a pool of the snapshot with its sequence number (`poolTable`).
 *
 * `severity`, `status`, `duplicate_of`, `publisher`, `source_name`, `platforms` and `added_to_feed_at` are unqualified, so that one condition
 * serves `items`, `item_states` and `overridden_rows`. The id of an item has a different name in each table and is passed as an argument.
 *
 * Listed rows have the columns `(id, added_to_feed_at, seq_from)`. `seq_from` is null for a row of `items`. For a previous state, `id` and
 * `seq_from` are the key in `item_states`.
 *
 * CTEs of a list query, in this order:
 * - `overridden_rows`: only if `usesOverriddenRows(filters)`.
 * - `duplicate_roots`: only if `usesDuplicateRoots(filters)`.
 * - `total (n, pool_rows)`: the number of listed items, and how many of them the branches of the pools return.
 * - `page`: the listed rows of the page.
 * A list of relevant items has `marked`, listed rows that the organization marked, in place of the first three.
 * A search has `matched` (ids) and `found` (listed rows) in place of the first three. One with a text then has `listed`: listed rows with their
 * place in the order of the list. One by terms alone has the sorted array `ids` in `matched`, and previous states alone in `found`. One by the time of the last update has the first two and `found`, preceded by `wanted` (ids) if it is restricted
 * to relevant items.
 */
export type Sql = RawBuilder<unknown>;

/** A complete boolean expression. */
export type Condition = RawBuilder<boolean>;

/** Items by their ids: as a query, and as a condition on one id, which costs less for few items. */
export type IdSet = { ids: Sql; contains: (id: Sql) => Condition };

/** The same condition on a row of `items i` and on a row of `item_states s`. */
export type StateCondition = { current: Condition; past: Condition };

type CteName =
  | 'overridden_rows'
  | 'duplicate_roots'
  | 'total'
  | 'page'
  | 'matched'
  | 'found'
  | 'members'
  | 'listed'
  | 'marked'
  | 'wanted';

/** A name and the complete query behind it. */
export type Cte = { name: CteName; query: Sql; isMaterialized: boolean };

export const allOf = (conditions: readonly (Condition | undefined)[]): Condition => {
  const present = conditions.filter((condition) => condition !== undefined);
  return present.length === 0
    ? sql`true`
    : sql`${sql.join(
        present.map((condition) => sql`(${condition})`),
        sql` and `,
      )}`;
};

export const allOfStates = (conditions: readonly StateCondition[]): StateCondition => ({
  current: allOf(conditions.map(({ current }) => current)),
  past: allOf(conditions.map(({ past }) => past)),
});

/** A condition on the item id, for both tables. */
export const byItemId = (condition: (id: Sql) => Condition): StateCondition => ({
  current: condition(sql`i.id`),
  past: condition(sql`s.item_id`),
});

export const materialized = (name: CteName, query: Sql): Cte => ({ name, query, isMaterialized: true });

export const withCtes = (ctes: readonly Cte[], query: Sql): Sql =>
  ctes.length === 0 ? query : sql`with ${sql.join(ctes.map(renderCte))} ${query}`;

const renderCte = ({ name, query, isMaterialized }: Cte): Sql =>
  isMaterialized ? sql`${sql.ref(name)} as materialized (${query})` : sql`${sql.ref(name)} as (${query})`;

/** The pools whose items the transaction's organization sees: a condition on a row of `feed_pools`. */
export const isPoolVisible: Condition = sql`(kind = 'public' or organization_id = tocsin_org() or (kind = 'assigned' and tocsin_org() = any(assigned_to)))`;

/** Ids of the visible pools, as a parenthesized query. */
export const visiblePoolIds: Sql = sql`(select id from feed_pools where ${isPoolVisible})`;
