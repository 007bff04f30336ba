import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import { isPoolVisible, visiblePoolIds } from '../../feed/items/snapshot/query.sql.ts';
import type { IndicatorForms } from './observed-values.ts';

/** Returns a text that differs whenever an indicator may have been added or changed for the transaction's organization. */
export async function readFeedVersion(tx: Tx): Promise<string> {
  const found = await queryRow<{ version: string | null }>(tx)`
    select string_agg(id || ':' || seq, ',' order by id) as version from feed_pools where ${isPoolVisible}`;
  return found?.version ?? '';
}

const isOpen = (
  now: Date,
) => sql`t.kind = 'indicator' and t.standing is null and (t.ends_at is null or t.ends_at > ${now})
  and t.pool_id = any(array(${visiblePoolIds}))`;

/** Condition that a term is a URL that begins with `r.start`, which ends with a slash. */
const isBelow = sql`t.value like '%://%' and t.value collate "C" >= r.start and t.value collate "C" < left(r.start, -1) || '0'`;

/** Returns the forms that an active indicator of a visible item has. Statuses of the organization's own and of other items are not considered. */
export async function listKnownForms(tx: Tx, { terms, urlStarts }: IndicatorForms, now: Date): Promise<Set<string>> {
  // One look-up in the index for each form, whatever the planner estimates.
  const rows = await queryRows<{ form: string }>(tx)`
    select f.term as form from unnest(${terms}::text[]) as f (term)
      cross join lateral (select from item_terms t where t.value = f.term and ${isOpen(now)} limit 1) one
    union all
    select r.start from unnest(${urlStarts}::text[]) as r (start)
      cross join lateral (select from item_terms t where ${isBelow} and ${isOpen(now)} order by t.value collate "C" limit 1) one`;
  return new Set(rows.map(({ form }) => form));
}

/** Returns the documents of the visible items after the ID `after` with an active indicator that has one of the forms, in the order of their IDs. */
export async function listItemsWithForms(
  tx: Tx,
  { terms, urlStarts }: IndicatorForms,
  { now, after, limit }: { now: Date; after: string; limit: number },
): Promise<{ id: string; doc: string }[]> {
  return queryRows<{ id: string; doc: string }>(tx)`
    select i.id, i.doc from (
      select one.item_id from unnest(${terms}::text[]) as f (term) cross join lateral (
        select t.item_id from item_terms t where t.value = f.term and ${isOpen(now)} and t.item_id > ${after}
        order by t.item_id limit ${limit}) one
      union
      select one.item_id from unnest(${urlStarts}::text[]) as r (start) cross join lateral (
        select t.item_id from item_terms t where ${isBelow} and ${isOpen(now)} and t.item_id > ${after} order by t.item_id limit ${limit}) one
    ) found join items i on i.id = found.item_id order by i.id limit ${limit}`;
}
