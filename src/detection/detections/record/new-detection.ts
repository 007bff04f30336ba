import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { Caller } from '../../../platform/orgs/caller.ts';
import { emptyAgent, type AgentWithPrompt } from './detection-row.ts';
import { checkLookback, effectiveCron, enabledAfter } from './cadence.ts';
import { columnsOf } from './detection-columns.ts';
import { definitionText, type Definition } from './definition.ts';
import type { CreateDetection } from './detection-input.ts';

/** What a body would make a detection of, without making it. 400 as for create. `now` is slot time. */
export function definitionOf({ orgId }: Pick<Caller, 'orgId'>, input: CreateDetection, now: Date): Definition {
  return JSON.parse(definitionText(newAgent({ orgId }, input, now))) as Definition;
}

/** The agent that a body makes, with its first prompt. 400 for what does not fit together. */
export function newAgent({ orgId }: Pick<Caller, 'orgId'>, input: CreateDetection, now: Date): AgentWithPrompt {
  const agent: AgentWithPrompt = {
    ...emptyAgent,
    organization_id: orgId,
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
