import { inOrg, type Tx } from '../db/db.ts';
import type { Deps } from '../deps.ts';
import { uuidv7 } from '../lib/ids.ts';
import type { Caller } from '../orgs/caller.ts';
import { openSchedule } from '../schedule/lifecycle.ts';
import { emptyAgent, noFigures, type AgentWithPrompt } from './agent.ts';
import { insertAgent } from './agent-store.ts';
import { checkLookback, effectiveCron, enabledAfter } from './cadence.ts';
import { checkWouldRun } from './check.ts';
import { checkModelAlias, columnsOf } from './columns.ts';
import { definitionText, type Definition } from './definition.ts';
import { emitDetection } from './events.ts';
import type { CreateDetection } from './input.ts';
import { toRecord } from './record.ts';
import type { Detection } from './schema.ts';

export type CreateDeps = Pick<Deps, 'db' | 'clock' | 'checkQuery' | 'models'>;

/** Makes a detection with its first prompt version, revision and schedule. With `validate` it is checked against its SIEM first (422). */
export async function createDetection(
  deps: CreateDeps,
  caller: Caller,
  input: CreateDetection,
  validate = false,
): Promise<Detection> {
  checkModelAlias(deps.models, input.modelAlias);
  const agent = newAgent(caller, input, deps.clock());
  if (validate) await checkWouldRun(deps, caller.orgId, agent);
  const record = toRecord({ ...agent, ...noFigures });
  await inOrg(deps.db, caller.orgId, async (tx) => {
    await insertAgent(tx, caller, agent, {
      action: 'detection.created',
      resourceType: 'detection',
      resourceId: agent.id,
      before: null,
      after: record,
    });
    await openAgentSchedule(tx, caller, agent);
    await emitDetection(tx, 'detection.created', record);
  });
  return record;
}

/** What a body would make a detection of, without making it. 400 as for create. `now` is slot time. */
export function definitionOf(caller: Caller, input: CreateDetection, now: Date): Definition {
  return JSON.parse(definitionText(newAgent(caller, input, now))) as Definition;
}

/** The row of a detection that does not exist yet. 400 for what only the service can judge. */
export function newAgent(caller: Caller, input: CreateDetection, now: Date): AgentWithPrompt {
  const agent: AgentWithPrompt = {
    ...emptyAgent,
    organization_id: caller.orgId,
    id: uuidv7(now),
    agent_type: 'detection',
    name: input.name,
    trigger_id: uuidv7(now),
    active_prompt_id: uuidv7(now),
    prompt: input.systemPrompt,
    prompt_version: 1,
    prompt_description: '',
    prompt_created_at: now,
    created_at: now,
    updated_at: now,
    ...columnsOf(input, now),
  };
  agent.enabled = enabledAfter({ cron: null, enabled: false }, effectiveCron(agent), input.enabled);
  checkLookback(agent);
  return agent;
}

/** Coverage of a detection begins here, at the last slot before now. */
async function openAgentSchedule(tx: Tx, { orgId }: Caller, agent: AgentWithPrompt): Promise<void> {
  await openSchedule(tx, {
    orgId,
    detectionId: agent.id,
    cron: effectiveCron(agent),
    active: agent.enabled,
    lookbackMinutes: agent.lookback_minutes,
    now: agent.updated_at,
  });
}
