import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { emptyAgent, emptyStats, type AgentView, type AgentWithPrompt, toColumns } from './record/detection-row.ts';
import { insertAgent } from './detections.store.ts';
import { effectiveCron, isEnabledAfter } from './record/cron-schedule.ts';
import { storeChange } from './update-detection.ts';
import { checkModelAlias, type ModelAliases } from './record/build-detection.ts';
import { requireMatch } from '../../platform/orgs/record-version.ts';
import type { UpdateAgent } from './record/detection-input.schema.ts';
import { toRecord } from './record/detection-record.ts';
import type { Detection } from './record/detection.schema.ts';
import { findAgent, lockAgent } from './detection-views.store.ts';

export type AgentDeps = { db: Db; clock: Clock };

const builtInAgents = [
  {
    type: 'threat-relevancy',
    name: 'Threat relevancy',
    description: 'Judges which feed items concern this organization.',
    prompt:
      'Decide whether a threat-intelligence item concerns the organization that the profile describes. Give the reason from the item itself.',
  },
  {
    type: 'threat-research',
    name: 'Threat research',
    description: 'Turns relevant feed items into suggested detections.',
    prompt:
      'Propose a detection for the behavior that a relevant threat-intelligence item describes. Cite the item and the passage it is based on.',
  },
] as const;

/** Creates the built-in agents of a new organization. They have no schedule until one is set. */
export async function insertBuiltInAgents(tx: Tx, orgId: OrgId, now: Date): Promise<void> {
  for (const { type, name, description, prompt } of builtInAgents) {
    const agent: AgentWithPrompt = {
      ...emptyAgent,
      organization_id: orgId,
      id: uuidv7(now),
      agent_type: 'response',
      is_built_in: true,
      built_in_agent_type: type,
      name,
      description,
      trigger_id: uuidv7(now),
      active_prompt_id: uuidv7(now),
      prompt,
      prompt_version: 1,
      prompt_description: '',
      prompt_created_at: now,
      created_at: now,
      updated_at: now,
    };
    const record = toRecord({ ...agent, ...emptyStats });
    await insertAgent(tx, { orgId, keyId: null }, agent, { action: 'agent.created', record });
  }
}

/** Returns an agent of any kind. Throws 404 if it does not exist. */
export async function getAgent({ db, clock }: AgentDeps, caller: Caller, id: string): Promise<Detection> {
  const agent = await inOrg(db, caller.orgId, (tx) => findAgent(tx, { orgId: caller.orgId, now: clock() }, id));
  return toRecord(requireAgent(agent, id));
}

/** Changes schedule, `enabled`, model alias and budgets of a built-in agent. Throws 409 for a detection, which has its own endpoint. */
export async function updateBuiltInAgent(
  { db, clock, models }: AgentDeps & { models?: ModelAliases },
  caller: Caller,
  { id, input }: { id: string; input: UpdateAgent },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = requireAgent(await lockAgent(tx, { orgId: caller.orgId, now }, id), id);
    if (!before.is_built_in) throw appError('conflict', `${id} is a detection. Change it at /api/detections/${id}.`);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType: 'agent', resourceId: before.id });
    checkModelAlias(models, input.modelAlias);
    const after = mergeAgentUpdate(before, input, now);
    return storeChange(tx, before, after, { caller, action: 'agent.updated', now, gapReason: 'disabled' });
  });
}

/** Throws 409 for every agent, since built-in agents cannot be deleted and detections have their own endpoint. Throws 404 for an unknown one. */
export async function refuseDeletion(deps: AgentDeps, caller: Caller, id: string): Promise<Detection> {
  const { isBuiltIn } = await getAgent(deps, caller, id);
  if (isBuiltIn) throw appError('conflict', `Agent ${id} is built in and cannot be deleted.`);
  throw appError('conflict', `${id} is a detection. Delete it at /api/detections/${id}.`);
}

function mergeAgentUpdate(before: AgentView, input: UpdateAgent, now: Date): AgentView {
  const after = { ...before, ...toColumns(input, now) };
  const old = { cron: effectiveCron(before), enabled: before.enabled };
  return { ...after, enabled: isEnabledAfter(old, effectiveCron(after), input.enabled) };
}

function requireAgent(agent: AgentView | undefined, id: string): AgentView {
  if (!agent) throw appError('not_found', `Agent ${id} not found.`);
  return agent;
}
