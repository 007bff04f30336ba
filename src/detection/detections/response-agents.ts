import { inOrgWithCachedPlans, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import { toNewAgentView } from './create-detection.ts';
import { findAgent, lockAgent, type ViewScope } from './detection-views.store.ts';
import { insertAgent } from './detections.store.ts';
import { buildAgent, checkModelAlias, type ModelAliases } from './record/build-detection.ts';
import type { CreateAgent } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import type { AgentView } from './record/detection-row.ts';
import type { Detection } from './record/detection.schema.ts';
import { storeCronTrigger } from './triggers/agent-triggers.store.ts';

/** Creates a response agent with its first prompt version and revision. */
export async function createResponseAgent(
  deps: { db: Db; clock: Clock; models?: ModelAliases },
  caller: Caller,
  input: CreateAgent,
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = buildAgent(caller, input, deps.clock());
  const record = toRecord(await toNewAgentView(deps, caller, agent));
  await inOrgWithCachedPlans(deps.db, caller.orgId, async (tx) => {
    await insertAgent(tx, caller, agent, { action: 'agent.created', record });
    await storeCronTrigger(tx, agent, agent.created_at);
  });
  return record;
}

/** Returns a response agent, deleted or not. Throws 404 for a built-in one and for any other ID. */
export function requireResponseAgent(agent: AgentView | undefined, id: string): AgentView {
  if (agent?.agent_type !== 'response' || agent.is_built_in)
    throw appError('not_found', `Response agent ${id} not found.`);
  return agent;
}

/** Reads a response agent, deleted or not. Throws 404 for a built-in one and for any other ID. */
export const readResponseAgent = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireResponseAgent(await findAgent(tx, scope, id), id);

/** Locks a response agent until the transaction ends. Throws 404 as `readResponseAgent` does, and 409 if it is deleted. */
export async function lockResponseAgent(tx: Tx, scope: ViewScope, id: string): Promise<AgentView> {
  const agent = requireResponseAgent(await lockAgent(tx, scope, id), id);
  if (agent.deleted_at !== null) throw appError('conflict', `Agent ${id} is deleted. Restore it first.`);
  return agent;
}

/** Writes the audit row of a change that belongs to an agent but not to its record. */
export const auditAgent = (
  tx: Tx,
  caller: Caller,
  agentId: string,
  change: { action: string; before: unknown; after: unknown },
): Promise<void> => insertAudit(tx, caller, { ...change, resourceType: 'agent', resourceId: agentId });
