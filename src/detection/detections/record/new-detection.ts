import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { checkLookback, effectiveCron, isEnabledAfter } from './cron-schedule.ts';
import { toDefinition, type Definition } from './definition.ts';
import type { CreateDetection } from './detection-input.schema.ts';
import { emptyAgent, type AgentWithPrompt } from './detection-row.ts';
import { toColumns } from './field-conversion.ts';
import { checkTuning } from './check-tuning.ts';

/** Returns the definition that a create body leads to, without storing anything. Throws the same 400 errors as create. `now` is slot time. */
export function buildDefinition({ orgId }: { orgId: OrgId }, input: CreateDetection, now: Date): Definition {
  return toDefinition(buildAgent({ orgId }, input, now));
}

/** Returns the agent row that a create body leads to, with its first prompt version. Throws 400 if the fields contradict each other. */
export function buildAgent({ orgId }: { orgId: OrgId }, input: CreateDetection, now: Date): AgentWithPrompt {
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
    ...toColumns(input, now),
  };
  agent.enabled = isEnabledAfter({ cron: null, enabled: false }, effectiveCron(agent), input.enabled);
  checkLookback(agent);
  checkTuning(agent);
  return agent;
}
