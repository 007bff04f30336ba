import { sql } from 'kysely';
import type { Budgets } from '../../platform/models/budgets.ts';
import { row, rows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** Documents of the newest items that the organization sees, are not retracted, and are of severity medium or above, as it says itself where it does. */
export async function listRecentItems(
  tx: Tx,
  orgId: OrgId,
  { since, limit }: { since: Date; limit: number },
): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ doc: string }>`
      select i.doc from items i join feed_pools p on p.id = i.pool_id
        left join feed_overrides o on o.organization_id = ${orgId} and o.item_id = i.id
      where (p.kind = 'public' or p.organization_id = ${orgId} or (p.kind = 'assigned' and ${orgId}::uuid = any(p.assigned_to)))
        and i.added_to_feed_at > ${since} and i.status <> 'retracted' and o.status is distinct from 'retracted'
        and coalesce(o.severity, i.severity) in ('medium', 'high', 'critical')
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`,
  );
  return found.map(({ doc }) => doc);
}

/** Keys and fingerprints of what the organization has, or had until after `since`. */
export async function listKnown(
  tx: Tx,
  orgId: OrgId,
  since: Date,
): Promise<{ keys: Set<string>; queries: Set<string> }> {
  const found = await rows(
    tx,
    sql<{ key: string | null; query: string | null }>`
      select suggestion_key as key, detection_query as query from agents
      where organization_id = ${orgId} and agent_type = 'detection' and (deleted_at is null or deleted_at > ${since})`,
  );
  return {
    keys: new Set(found.flatMap(({ key }) => key ?? [])),
    queries: new Set(found.flatMap(({ query }) => query ?? [])),
  };
}

/** Items that a model was asked about since. */
export async function listAskedItems(
  tx: Tx,
  { orgId, agentId }: { orgId: OrgId; agentId: string },
  since: Date,
): Promise<Set<string>> {
  const found = await rows(
    tx,
    sql<{ id: string }>`
      select distinct unnest(item_ids) as id from agent_runs
      where organization_id = ${orgId} and agent_id = ${agentId} and started_at > ${since}`,
  );
  return new Set(found.map(({ id }) => id));
}

export type Researcher = { agentId: string; prompt: string; budgets: Partial<Budgets> };

/** The agent in whose name detections are drafted, with its active prompt. Every organization has one. */
export async function findResearcher(tx: Tx, orgId: OrgId): Promise<Researcher> {
  const found = await row(
    tx,
    sql<Omit<Researcher, 'budgets'> & { budgets: string | null }>`
      select a.id as "agentId", p.prompt, a.budgets from agents a
      join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
      where a.organization_id = ${orgId} and a.is_built_in and a.built_in_agent_type = 'threat-research'`,
  );
  const { budgets, ...agent } = found!;
  return { ...agent, budgets: budgets === null ? {} : (JSON.parse(budgets) as Partial<Budgets>) };
}
