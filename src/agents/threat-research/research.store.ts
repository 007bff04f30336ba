import { sql } from 'kysely';
import type { Condition } from '../../feed/items/snapshot/query.sql.ts';
import { isMarkedRelevant, relevantIds } from '../../feed/items/list-query/relevant-items.store.ts';
import type { OrgState } from '../../feed/items/snapshot/org-state.store.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

type RecentItemsQuery = { orgState: OrgState; since: Date; limit: number };

/**
 * Returns the JSON documents of the newest visible items that are relevant to the organization, whatever their severity, followed by the newest
 * others of severity medium or higher. Without a profile every item may be relevant, so those of lower severity that describe techniques come
 * last, unless the organization itself rated them low. Leaves out items that are retracted or that the organization judged irrelevant. The
 * organization's overrides of severity and status apply.
 */
export async function listRecentItems(tx: Tx, orgId: OrgId, query: RecentItemsQuery): Promise<string[]> {
  const ids = relevantIds(query.orgState);
  // Without a profile, only items that the organization marked or saw in its logs are known to be relevant.
  const isRelevant = ids ? sql<boolean>`i.id in (${ids})` : isMarkedRelevant;
  const relevant = await listNewestItems(tx, orgId, { ...query, condition: isRelevant });
  const isSevere = sql<boolean>`(${isRelevant}) is not true and coalesce(o.severity, i.severity) in ('medium', 'high', 'critical')`;
  const limit = query.limit - relevant.length;
  const severe = await listNewestItems(tx, orgId, { ...query, condition: isSevere, limit });
  if (ids) return [...relevant, ...severe];
  const isActionable = sql<boolean>`(${isRelevant}) is not true and o.severity is null and i.severity in ('none', 'low')
    and exists (select 1 from item_terms t where t.item_id = i.id and t.kind = 'technique')`;
  const actionable = { ...query, condition: isActionable, limit: limit - severe.length };
  return [...relevant, ...severe, ...(await listNewestItems(tx, orgId, actionable))];
}

async function listNewestItems(
  tx: Tx,
  orgId: OrgId,
  { condition, since, limit }: RecentItemsQuery & { condition: Condition },
): Promise<string[]> {
  const rows = await queryRows<{ doc: string }>(tx)`
      select i.doc from items i join feed_pools p on p.id = i.pool_id
        left join feed_overrides o on o.organization_id = ${orgId} and o.item_id = i.id
      where (p.kind = 'public' or p.organization_id = ${orgId} or (p.kind = 'assigned' and ${orgId}::uuid = any(p.assigned_to)))
        and i.added_to_feed_at > ${since} and i.status <> 'retracted' and o.status is distinct from 'retracted'
        and o.relevance is distinct from 'irrelevant' and (${condition})
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`;
  return rows.map(({ doc }) => doc);
}

/** Returns the text of those items that print Sigma rules, in the order of `itemIds`. */
export async function listRuleTexts(
  tx: Tx,
  itemIds: string[],
  limit: number,
): Promise<{ itemId: string; text: string }[]> {
  return queryRows<{ itemId: string; text: string }>(tx)`
      select i.id as "itemId", v.stored_text as text
      from unnest(${itemIds}::uuid[]) with ordinality as wanted (id, place)
        join item_terms t on t.item_id = wanted.id and t.kind = 'rule' and t.value = 'sigma'
        join items i on i.id = wanted.id join item_versions v on v.item_id = i.id and v.version = i.version
      order by wanted.place limit ${limit}`;
}

/** Returns the suggestion keys and queries of the organization's detections, including those deleted after `since`. */
export async function listKnownDetections(
  tx: Tx,
  orgId: OrgId,
  since: Date,
): Promise<{ keys: Set<string>; queries: Set<string> }> {
  const rows = await queryRows<{ key: string | null; query: string | null }>(tx)`
      select suggestion_key as key, detection_query as query from agents
      where organization_id = ${orgId} and agent_type = 'detection' and (deleted_at is null or deleted_at > ${since})`;
  return {
    keys: new Set(rows.flatMap(({ key }) => key ?? [])),
    queries: new Set(rows.flatMap(({ query }) => query ?? [])),
  };
}
