import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { Deps } from '../../../app/deps.ts';
import { appError } from '../../../platform/lib/errors.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { emptyAgent, noFigures, type AgentView, type AgentWithPrompt } from '../record/detection-row.ts';
import { insertAgent } from '../detections.store.ts';
import { effectiveCron, enabledAfter } from '../record/cadence.ts';
import { storeChange } from '../change-detection.ts';
import { budgetColumns, checkModelAlias, scheduleColumns } from '../record/detection-columns.ts';
import { checkIfMatch, etagOf } from '../../../platform/http/etag.ts';
import type { UpdateAgent } from '../record/detection-input.ts';
import { toRecord } from '../record/detection-record.ts';
import type { Detection } from '../record/detection.schema.ts';
import { findAgent, lockAgent } from '../detection-views.store.ts';

const builtInAgents = [
  {
    type: 'threat-relevancy',
    name: 'Threat relevancy',
    description: 'Judges which feed items concern this organization.',
    prompt:
      'Decide whether a threat-intelligence item concerns the organization described by its profile, and name the reason from the item itself.',
  },
  {
    type: 'threat-research',
    name: 'Threat research',
    description: 'Turns relevant feed items into suggested detections.',
    prompt:
      'Propose a detection for the behaviour that a relevant threat-intelligence item describes, and name the item and the passage it comes from.',
  },
] as const;

/** Makes the built-in agents of a new organization. They have no schedule until one is set. */
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
    const after = toRecord({ ...agent, ...noFigures });
    await insertAgent(tx, { orgId, keyId: null }, agent, {
      action: 'agent.created',
      resourceType: 'agent',
      resourceId: agent.id,
      before: null,
      after,
    });
  }
}

/** One agent of any kind. */
export async function getAgent(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  caller: Caller,
  id: string,
): Promise<Detection> {
  const agent = await inOrg(db, caller.orgId, (tx) => findAgent(tx, { orgId: caller.orgId, now: clock() }, id));
  return toRecord(agentOr404(agent, id));
}

/** Changes schedule, `enabled`, model alias and budgets of a built-in agent. 409 for a detection: that has an address of its own. */
export async function updateBuiltInAgent(
  { db, clock, models }: Pick<Deps, 'db' | 'clock' | 'models'>,
  caller: Caller,
  { id, input }: { id: string; input: UpdateAgent },
  ifMatch: string | undefined,
): Promise<Detection> {
  const now = clock();
  return inOrg(db, caller.orgId, async (tx) => {
    const before = agentOr404(await lockAgent(tx, { orgId: caller.orgId, now }, id), id);
    if (!before.is_built_in) throw appError('conflict', `${id} is a detection; change it at /api/detections/${id}.`);
    checkIfMatch(ifMatch, etagOf(toRecord(before)));
    checkModelAlias(models, input.modelAlias);
    return storeChange(tx, before, merge(before, input, now), {
      caller,
      action: 'agent.updated',
      now,
      reason: 'disabled',
    });
  });
}

/** Built-in agents stay, and detections are deleted at their own address: always 409, or 404 for an unknown one. */
export async function refuseDeletion(deps: Pick<Deps, 'db' | 'clock'>, caller: Caller, id: string): Promise<Detection> {
  const { isBuiltIn } = await getAgent(deps, caller, id);
  throw appError(
    'conflict',
    isBuiltIn
      ? `Agent ${id} is built in and cannot be deleted.`
      : `${id} is a detection; delete it at /api/detections/${id}.`,
  );
}

function merge(before: AgentView, input: UpdateAgent, now: Date): AgentView {
  const after = {
    ...before,
    ...scheduleColumns(input, now),
    ...budgetColumns(input),
    model_alias: input.modelAlias ?? before.model_alias,
  };
  const old = { cron: effectiveCron(before), enabled: before.enabled };
  return { ...after, enabled: enabledAfter(old, effectiveCron(after), input.enabled) };
}

function agentOr404(agent: AgentView | undefined, id: string): AgentView {
  if (!agent) throw appError('not_found', `Agent ${id} not found.`);
  return agent;
}
