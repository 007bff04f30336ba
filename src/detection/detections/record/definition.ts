import { zonedCron } from './cron-schedule.ts';
import type { AgentWithPrompt } from './detection-row.ts';
import { toDefinitionFields } from './field-conversion.ts';
import type { DefinitionFields } from './field-types.ts';

/**
 * A detection at one revision, with everything that a run needs. If `structuredOutputSchema` is null, the default verdict
 * schema applies. `cronSchedule` includes the time zone, as the scheduler stores it. If `lookbackMinutes` is null, the look-back follows from the cron expression.
 */
export type Definition = { promptId: string; promptVersion: number } & DefinitionFields & {
    cronSchedule: string | null;
  };

export function toDefinition(agent: AgentWithPrompt): Definition {
  return {
    promptId: agent.active_prompt_id,
    promptVersion: agent.prompt_version,
    ...toDefinitionFields(agent),
    cronSchedule: zonedCron(agent),
  };
}

/** Returns the definition as the JSON text that `agent_revisions` stores. Two revisions are equal if their texts are equal. */
export const definitionText = (agent: AgentWithPrompt): string => JSON.stringify(toDefinition(agent));
