import { sql } from 'kysely';
import type { Condition, Sql } from './list-query/query.sql.ts';

/** The pools whose items the transaction's organization sees: a condition on a row of `feed_pools`. */
export const isPoolVisible: Condition = sql`(kind = 'public' or organization_id = tocsin_org() or (kind = 'assigned' and tocsin_org() = any(assigned_to)))`;

/** Ids of the visible pools, as a parenthesized query. */
export const visiblePoolIds: Sql = sql`(select id from feed_pools where ${isPoolVisible})`;
