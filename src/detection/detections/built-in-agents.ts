import { inOrg, type Db, type Tx } from '../../platform/db/db.ts';
import type { Clock } from '../../platform/lib/time/clock.ts';
import { appError, fieldError } from '../../platform/lib/errors.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { emptyAgent, emptyStats, type AgentView, type AgentWithPrompt, toColumns } from './record/detection-row.ts';
import { insertAgents } from './detections.store.ts';
import { effectiveCron, isEnabledAfter } from './record/cron-schedule.ts';
import { storeChange } from './update-detection.ts';
import { checkModelAlias, mergeUpdate, type ModelAliases } from './record/build-detection.ts';
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
  const agents = builtInAgents.map(({ type, name, description, prompt }) => {
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
    return { agent, action: 'agent.created', record: toRecord({ ...agent, ...emptyStats }) };
  });
  await insertAgents(tx, { orgId, keyId: null }, agents);
}

/** Returns an agent of any kind. Throws 404 if it does not exist. */
export async function getAgent({ db, clock }: AgentDeps, caller: Caller, id: string): Promise<Detection> {
  const agent = await inOrg(db, caller.orgId, (tx) => findAgent(tx, { orgId: caller.orgId, now: clock() }, id));
  return toRecord(requireAgent(agent, id));
}

/**
 * Changes a response agent, or the schedule, `enabled`, the model alias and the budgets of a built-in one. Throws 409 for a detection, which has its own
 * endpoint, and for a deleted agent.
 */
export async function updateAgent(
  { db, clock, models }: AgentDeps & { models?: ModelAliases },
  caller: Caller,
  { id, input }: { id: string; input: UpdateAgent },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = requireAgent(await lockAgent(tx, { orgId: caller.orgId, now }, id), id);
    if (before.agent_type === 'detection')
      throw appError('conflict', `${id} is a detection. Change it at /api/detections/${id}.`);
    if (before.deleted_at !== null) throw appError('conflict', `Agent ${id} is deleted. Restore it first.`);
    await requireMatch(tx, ifMatch, toRecord(before), { resourceType: 'agent', resourceId: before.id });
    checkModelAlias(models, input.modelAlias);
    const after = before.is_built_in ? mergeBuiltIn(before, input, now) : mergeUpdate(before, input, now);
    return storeChange(tx, before, after, { caller, action: 'agent.updated', now, gapReason: 'disabled' });
  });
}

/** Ignores the other fields of the record, so that a client can send back the record that it read. Throws 400 for a prompt. */
function mergeBuiltIn(before: AgentView, input: UpdateAgent, now: Date): AgentView {
  if (input.systemPrompt !== undefined)
    throw fieldError('/systemPrompt', 'built_in', 'The prompt of a built-in agent cannot be changed.');
  const { detectionCadence, customCronSchedule, cronTimezone, modelAlias, budgets } = input;
  const columns = toColumns({ detectionCadence, customCronSchedule, cronTimezone, modelAlias, budgets }, now);
  const after = { ...before, ...columns };
  const old = { cron: effectiveCron(before), enabled: before.enabled };
  return { ...after, enabled: isEnabledAfter(old, effectiveCron(after), input.enabled) };
}

function requireAgent(agent: AgentView | undefined, id: string): AgentView {
  if (!agent) throw appError('not_found', `Agent ${id} not found.`);
  return agent;
}
