import type { Budgets } from '../../platform/models/budgets.ts';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type DraftingAgent = { agentId: string; prompt: string; budgets: Partial<Budgets> };

/** Returns the organization's threat-research agent, under which detections are drafted, with its active prompt. Every organization has one. */
export async function findDraftingAgent(tx: Tx, orgId: OrgId): Promise<DraftingAgent> {
  const row = await queryRow<Omit<DraftingAgent, 'budgets'> & { budgets: string | null }>(tx)`
      select a.id as "agentId", p.prompt, a.budgets from agents a
      join agent_prompts p on p.organization_id = a.organization_id and p.id = a.active_prompt_id
      where a.organization_id = ${orgId} and a.is_built_in and a.built_in_agent_type = 'threat-research'`;
  const { budgets, ...agent } = row!;
  return { ...agent, budgets: budgets === null ? {} : (JSON.parse(budgets) as Partial<Budgets>) };
}

/** Returns the IDs of the feed items that the agent's runs since `since` sent to a model. */
export async function listItemsSentToModel(
  tx: Tx,
  { orgId, agentId }: { orgId: OrgId; agentId: string },
  since: Date,
): Promise<Set<string>> {
  const rows = await queryRows<{ id: string }>(tx)`
      select distinct unnest(item_ids) as id from agent_runs
      where organization_id = ${orgId} and agent_id = ${agentId} and started_at > ${since}`;
  return new Set(rows.map(({ id }) => id));
}
