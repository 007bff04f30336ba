import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { withDefaultTools } from '../detections/agent-settings/agent-settings.ts';
import { toNewAgentView, type NewDetection } from '../detections/create-detection.ts';
import { findAgent, lockAgent, type ViewScope } from '../detections/detection-views.store.ts';
import { insertAgents } from '../detections/detections.store.ts';
import { buildAgent, checkModelAlias, type ModelAliases } from '../detections/record/build-detection.ts';
import type { CreateAgent } from '../detections/record/detection-input.schema.ts';
import { toRecord } from '../detections/record/detection-record.ts';
import type { AgentView } from '../detections/record/detection-row.ts';
import type { Detection } from '../detections/record/detection.schema.ts';
import { storeCronTrigger } from '../detections/triggers/agent-triggers.store.ts';

type CreateAgentDeps = { db: Db; clock: Clock; models?: ModelAliases };

/** Creates a response agent with its first prompt version and revision. It has the organization's tools, unless `input` specifies tools. */
export async function createResponseAgent(
  deps: CreateAgentDeps,
  caller: Caller,
  input: CreateAgent,
): Promise<Detection> {
  const { record } = await inOrg(deps.db, caller.orgId, (tx) => insertResponseAgent(tx, deps, caller, input));
  return record;
}

/** Like `createResponseAgent`, in the caller's transaction. */
export async function insertResponseAgent(
  tx: Tx,
  { models, clock }: Omit<CreateAgentDeps, 'db'>,
  caller: Caller,
  input: CreateAgent,
): Promise<NewDetection> {
  checkModelAlias(models, input.modelAlias);
  const now = clock();
  const agent = buildAgent(caller, await withDefaultTools(tx, caller.orgId, input), now);
  const record = toRecord(await toNewAgentView(tx, caller.orgId, agent));
  await insertAgents(tx, caller, [{ agent, action: 'agent.created', record }]);
  await storeCronTrigger(tx, agent, now);
  return { agent, record };
}

/** Returns a response agent, deleted or not. Throws 404 for a built-in one and for any other ID. */
function requireResponseAgent(agent: AgentView | undefined, id: string): AgentView {
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
