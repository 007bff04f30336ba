import { sql } from 'kysely';
import type { Tx } from '../../../platform/db/db.ts';
import { overriddenIds } from '../overrides/overrides.sql.ts';
import type { OrgState } from '../snapshot/org-state.store.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { readPageRows, type ItemsPage, type PageWindow } from './page.store.ts';
import { allOf, materialized, type Sql } from './query.sql.ts';
import { hasOwnRelevance, isMarkedRelevant, isScored } from './relevance.sql.ts';
import { isInSnapshot } from './snapshot-rows.sql.ts';

/**
 * Returns one page of the relevant items of a snapshot, with their number. The scores have what orders the list, so that no other item than those
 * of the page is read. An item is scored once it is in its pool, so every score of a pool of the snapshot is of an item of the snapshot.
 */
export function readRelevantPage(
  tx: Tx,
  snapshot: Snapshot,
  { orgState, limit, offset }: { orgState: OrgState } & Pick<PageWindow, 'limit' | 'offset'>,
): Promise<ItemsPage> {
  const { overridesSeq } = orgState;
  const isVisible = sql<boolean>`${isScored(orgState)} and r.pool_id = any(${snapshot.poolIds}::uuid[])`;
  const decidedIds = overridesSeq !== undefined && overriddenIds(overridesSeq, hasOwnRelevance);
  const isListed = allOf([isVisible, decidedIds ? sql`r.item_id not in ${decidedIds}` : undefined]);
  const newest = sql`added_to_feed_at desc, id desc limit ${limit} offset ${offset}`;
  const page = sql`
    select id, added_to_feed_at, case when is_scored then (
        select s.seq_from from item_states s where s.item_id = relevant.id and (${isInSnapshot(snapshot).past})) else seq_from end as seq_from
    from (
      select id, added_to_feed_at, null::bigint as seq_from, true as is_scored from (
        select r.item_id as id, r.added_to_feed_at from feed_relevance r where ${isListed} order by r.added_to_feed_at desc, r.item_id desc limit ${offset + limit}) rows
      union all select id, added_to_feed_at, seq_from, false from marked
      order by ${newest}) relevant`;
  const scores = sql`(select count(*) from feed_relevance r where ${isVisible})`;
  const decided = decidedIds
    ? sql`(select count(*) from feed_relevance r where ${isVisible} and r.item_id = any(array${decidedIds}))`
    : sql`0`;
  const total = sql`(select ${scores} - ${decided} + (select count(*) from marked) as n) total`;
  return readPageRows(tx, { ctes: [materialized('marked', markedRows(snapshot, overridesSeq))], page, total });
}

/** Listed rows of the items that the organization's overrides make relevant. */
function markedRows(snapshot: Snapshot, overridesSeq: number | undefined): Sql {
  if (overridesSeq === undefined)
    return sql`select id, added_to_feed_at, null::bigint as seq_from from items where false`;
  const ids = sql`any(array(${overriddenIds(overridesSeq, isMarkedRelevant)}))`;
  const { current, past } = isInSnapshot(snapshot);
  return sql`
    select i.id, i.added_to_feed_at, null::bigint as seq_from from items i where i.id = ${ids} and (${current})
    union all
    select s.item_id, s.added_to_feed_at, s.seq_from from item_states s where s.item_id = ${ids} and (${past})`;
}
