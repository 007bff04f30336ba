import { sql } from 'kysely';
import type { Condition, Sql } from '../list-query/query.sql.ts';

const columns = sql`item_id, severity, status, moved, duplicate_of, relevance, exposed_at, updated_at`;

/** The overrides of the transaction's organization when its private pool was at `seq`, as a parenthesized query. These are few rows. */
export const overridesAt = (seq: number): Sql => sql`(
  select ${columns} from feed_overrides where organization_id = tocsin_org() and seq <= ${seq}
  union all
  select ${columns} from feed_override_states where organization_id = tocsin_org() and seq <= ${seq} and seq_until > ${seq})`;

/** Ids of the items whose override `o` meets a condition, as a parenthesized query. */
export const overriddenIds = (seq: number, condition: Condition): Sql =>
  sql`(select o.item_id from ${overridesAt(seq)} o where ${condition})`;
