import type { Agent, AgentView } from '../record/detection-row.ts';
import { suppressionDefaultMinutes, type Definition } from '../record/definition.ts';
import type { UpdateDetection } from '../record/detection-input.ts';
import type { PromptRow } from './prompts.store.ts';
import { merge } from '../update-detection.ts';
import { storedSchema } from '../record/verdict.schema.ts';

/** The agent with an older definition and its prompt in place of its own. 400 naming the field for what would not be taken today. */
export function asRevised(
  before: AgentView,
  { definition, prompt, now }: { definition: Definition; prompt: PromptRow; now: Date },
): AgentView {
  return {
    ...merge({ ...before, ...mayBeUnset(definition, before) }, inputOf(definition, before), now),
    active_prompt_id: prompt.id,
    prompt: prompt.prompt,
    prompt_version: prompt.version,
    prompt_description: prompt.description,
    prompt_created_at: prompt.createdAt,
  };
}

/** Columns that a body can set and not clear. */
function mayBeUnset(definition: Definition, before: AgentView): Partial<Agent> {
  const { structuredOutputSchema: schema, suppressionMinutes } = definition;
  const isSame = suppressionMinutes === (before.suppression_minutes ?? suppressionDefaultMinutes);
  return {
    entity_field: definition.entityField,
    time_field: definition.timeField,
    lookback_minutes: definition.lookbackMinutes,
    structured_output_schema: schema && storedSchema(schema),
    budgets: definition.budgets ? JSON.stringify(definition.budgets) : null,
    suppression_minutes: isSame ? before.suppression_minutes : suppressionMinutes,
    ...(definition.connectionId === null ? { connection_id: null } : {}),
  };
}

function inputOf(definition: Definition, before: AgentView): UpdateDetection {
  const { name, description, detectionCategory, detectionQuery, siemType, toolNames, tags } = definition;
  const { inputs, contextDocs, modelAlias, planningMode, mode, cronSchedule } = definition;
  const { connectionId, detectionCadence = null, customCronSchedule } = definition;
  return {
    name,
    description,
    detectionCategory,
    detectionQuery,
    siemType,
    toolNames,
    tags,
    inputs,
    contextDocs,
    modelAlias,
    planningMode,
    mode,
    detectionCadence,
    // An old revision knows the effective cron alone.
    customCronSchedule: customCronSchedule === undefined ? cronSchedule : customCronSchedule,
    ...(connectionId === null || connectionId === before.connection_id ? {} : { connectionId }),
  };
}
