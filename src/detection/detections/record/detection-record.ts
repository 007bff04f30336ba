import type { AgentView } from './detection-row.ts';
import type { BudgetOverrides } from './budgets.schema.ts';
import { effectiveCron } from './cadence.ts';
import type { Detection } from './detection.schema.ts';
import { verdictSchema } from './verdict.schema.ts';
import { warningsOf } from './warnings.ts';

/** The record of an agent as the interface shows it. Times are ISO 8601 UTC with milliseconds. */
export function toRecord(agent: AgentView): Detection {
  const cronSchedule = effectiveCron(agent);
  return {
    id: agent.id,
    organizationId: agent.organization_id,
    name: agent.name,
    description: agent.description,
    createdAt: agent.created_at.toISOString(),
    updatedAt: agent.updated_at.toISOString(),
    deletedAt: agent.deleted_at?.toISOString() ?? null,
    toolNames: agent.tool_names,
    inputs: JSON.parse(agent.inputs),
    modelAlias: agent.model_alias,
    planningMode: agent.planning_mode,
    mode: agent.mode,
    agentType: agent.agent_type,
    isBuiltIn: agent.is_built_in,
    builtInAgentType: agent.built_in_agent_type,
    cronSchedule,
    enabled: agent.enabled,
    contextDocs: JSON.parse(agent.context_docs),
    workflowStoryImportId: agent.workflow_story_import_id,
    triggerSummary:
      cronSchedule === null ? [] : [{ id: agent.trigger_id, source: 'cron', name: 'Schedule', enabled: agent.enabled }],
    structuredOutputSchema:
      agent.structured_output_schema === null ? verdictSchema : JSON.parse(agent.structured_output_schema),
    tags: agent.tags,
    detectionCategory: agent.detection_category,
    detectionQuery: agent.detection_query,
    siemType: agent.siem_type,
    isSuggestion: agent.is_suggestion,
    lastDetectionRunAt: agent.last_run_at?.toISOString() ?? null,
    activeSystemPrompt: {
      id: agent.active_prompt_id,
      prompt: agent.prompt,
      description: agent.prompt_description,
      version: agent.prompt_version,
      createdAt: agent.prompt_created_at.toISOString(),
    },
    runs30d: agent.runs,
    hits30d: agent.hits,
    avgEvalScore30d: agent.avg_score,
    detectionCadence: agent.detection_cadence,
    customCronSchedule: agent.custom_cron_schedule,
    ...setOnly(agent),
    revision: agent.revision,
    ...reviewsOf(agent),
    ...suggestionFields(agent),
  };
}

/** Fields that are absent when unset, since a body refuses null for them. */
function setOnly(agent: AgentView): Partial<Detection> {
  const warnings = warningsOf(agent);
  return {
    ...(agent.connection_id === null ? {} : { connectionId: agent.connection_id }),
    ...(agent.entity_field === null ? {} : { entityField: agent.entity_field }),
    ...(agent.time_field === null ? {} : { timeField: agent.time_field }),
    ...(agent.lookback_minutes === null ? {} : { lookbackMinutes: agent.lookback_minutes }),
    ...(agent.suppression_minutes === null ? {} : { suppressionMinutes: agent.suppression_minutes }),
    ...(agent.budgets === null ? {} : { budgets: JSON.parse(agent.budgets) as BudgetOverrides }),
    ...(agent.disabled_reason === null ? {} : { disabledReason: agent.disabled_reason }),
    ...(agent.tool_names.includes('search_siem') ? { seesOtherEntities: true as const } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function reviewsOf(agent: AgentView): Partial<Detection> {
  const { true_positives: truePositive, benign, false_positives: falsePositive } = agent;
  const total = truePositive + benign + falsePositive;
  if (total === 0) return {};
  return {
    reviews: { truePositive, benign, falsePositive, precision: Math.round((1000 * truePositive) / total) / 1000 },
  };
}

function suggestionFields(agent: AgentView): Partial<Detection> {
  if (!agent.is_suggestion) return {};
  return {
    rationale: agent.rationale ?? '',
    sourceItemIds: agent.source_item_ids,
    technique: agent.technique,
    evidence: JSON.parse(agent.evidence),
    estimate: agent.estimate === null ? null : JSON.parse(agent.estimate),
    ...(agent.dismiss_reason ? { dismissReason: agent.dismiss_reason } : {}),
    ...(agent.dismiss_note === null ? {} : { dismissNote: agent.dismiss_note }),
  };
}
