import { sql } from 'kysely';
import { overriddenIds } from '../snapshot/override-rows.store.ts';
import type { OrgState } from '../snapshot/org-state.store.ts';
import { type Condition, type IdSet, type Sql, allOf, materialized } from '../snapshot/query.sql.ts';
import type { Tx } from '../../../platform/db/db.ts';
import type { Snapshot } from '../snapshot/snapshot.ts';
import { readPageRows, type ItemsPage, type PageRange } from './page.store.ts';
import { isInSnapshot } from '../snapshot/snapshot-rows.sql.ts';

/**
 * Returns the condition that the item with an id is relevant to the organization. Undefined if no profile is in force: every item then is. With a
 * requirement, which all functions of this file accept, only items that meet it are.
 */
export function isRelevant(state: OrgState, requirement?: string): ((id: Sql) => Condition) | undefined {
  const ids = relevantIds(state, requirement);
  return ids && ((id) => sql`${id} in (${ids})`);
}

/** Ids of the relevant items, as a query. A verdict of the organization, or a sighting in its logs, wins over the score. */
export function relevantIds(state: OrgState, requirement?: string): Sql | undefined {
  const { profileVersion, overridesSeq } = state;
  if (profileVersion === undefined && requirement === undefined) return undefined;
  const scored = sql`select r.item_id from feed_relevance r where ${isScored(state, requirement)}`;
  if (overridesSeq === undefined) return scored;
  const kept = sql`${scored} and r.item_id not in ${overriddenIds(overridesSeq, isIrrelevant)}`;
  return requirement === undefined ? sql`${kept} union all ${overriddenIds(overridesSeq, isMarkedRelevant)}` : kept;
}

/** Returns the relevant items. Undefined if no profile is in force. */
export function relevantItems(state: OrgState, requirement?: string): IdSet | undefined {
  const ids = relevantIds(state, requirement);
  if (!ids) return undefined;
  const { overridesSeq } = state;
  const hasScore = (id: Sql): Condition => sql`coalesce((
    select true from feed_relevance r where r.item_id = ${id} and ${isScored(state, requirement)} limit 1), false)`;
  if (overridesSeq === undefined) return { ids, contains: hasScore };
  // Marking an item as relevant does not make it meet a requirement.
  const decides = requirement === undefined ? hasOwnRelevance : isIrrelevant;
  return {
    ids,
    contains: (id) => sql`
      case when ${id} in ${overriddenIds(overridesSeq, decides)} then ${id} in ${overriddenIds(overridesSeq, isMarkedRelevant)}
        else ${hasScore(id)} end`,
  };
}

/**
 * Returns the condition that a row of `feed_relevance r` is a score of the organization that is in force. The organization is a subquery, so that
 * it is evaluated once.
 */
const isScored = ({ profileVersion, ownSeq }: OrgState, requirement?: string): Condition => sql`
  r.organization_id = (select tocsin_org()) and r.version = ${profileVersion ?? null} and r.seq_from <= ${ownSeq} and r.seq_until > ${ownSeq}
  and ${requirement === undefined ? sql`true` : sql`r.requirements @> array[${requirement}::text]`}`;

const isIrrelevant: Condition = sql`o.relevance = 'irrelevant'`;

/** Whether the override `o` makes its item relevant: by a verdict, or by a sighting that no verdict contradicts. */
export const isMarkedRelevant: Condition = sql`o.relevance = 'relevant' or (o.exposed_at is not null and o.relevance is null)`;

/** Whether the override `o` decides the relevance of its item, whatever its score. */
const hasOwnRelevance: Condition = sql`${isIrrelevant} or ${isMarkedRelevant}`;

/**
 * Returns one page of the relevant items of a snapshot, with their number. The scores have what orders the list, so that no other item than those
 * of the page is read. An item is scored once it is in its pool, so every score of a pool of the snapshot is of an item of the snapshot.
 */
export function readRelevantPage(
  tx: Tx,
  snapshot: Snapshot,
  { orgState, limit, offset }: { orgState: OrgState } & PageRange,
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
