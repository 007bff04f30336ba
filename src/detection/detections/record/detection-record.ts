import { type AgentView, type AgentWithPrompt, toRecordFields, toDefinitionFields } from './detection-row.ts';
import { effectiveCron, zonedCron } from './cron-schedule.ts';
import type { Detection } from './detection.schema.ts';
import { findWarnings } from './warnings.ts';
import type { DefinitionFields } from './field-types.ts';
import { findTool } from '../../tools/tools.ts';

/** Returns the record of an agent as the API shows it. Times are ISO 8601 UTC with milliseconds. */
export function toRecord(agent: AgentView): Detection {
  const cronSchedule = effectiveCron(agent);
  const warnings = findWarnings(agent);
  return {
    id: agent.id,
    organizationId: agent.organization_id,
    createdAt: agent.created_at.toISOString(),
    updatedAt: agent.updated_at.toISOString(),
    deletedAt: agent.deleted_at?.toISOString() ?? null,
    agentType: agent.agent_type,
    isBuiltIn: agent.is_built_in,
    builtInAgentType: agent.built_in_agent_type,
    cronSchedule,
    workflowStoryImportId: agent.workflow_story_import_id,
    triggerSummary: [
      ...(cronSchedule === null
        ? []
        : [{ id: agent.trigger_id, source: 'cron' as const, name: 'Schedule', enabled: agent.enabled }]),
      ...(agent.other_triggers === null ? [] : (JSON.parse(agent.other_triggers) as Detection['triggerSummary'])),
    ],
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
    ...toRecordFields(agent),
    revision: agent.revision,
    ...toReviews(agent),
    ...(agent.disabled_reason === null ? {} : { disabledReason: agent.disabled_reason }),
    ...(agent.tool_names.some((name) => findTool(name)?.seesOtherEntities) ? { seesOtherEntities: true as const } : {}),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...toSuggestionFields(agent),
  };
}

function toReviews(agent: AgentView): Partial<Detection> {
  const { true_positives: truePositive, benign, false_positives: falsePositive } = agent;
  const total = truePositive + benign + falsePositive;
  if (total === 0) return {};
  return {
    reviews: { truePositive, benign, falsePositive, precision: Math.round((1000 * truePositive) / total) / 1000 },
  };
}

function toSuggestionFields(agent: AgentView): Partial<Detection> {
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
    // A response agent has no query. What it looks into is not compared with a past.
    ...(agent.agent_type === 'response' ? { detectionCategory: 'custom' as const, detectionQuery: '' } : {}),
    cronSchedule: zonedCron(agent),
  };
}

/** Returns the definition as the JSON text that `agent_revisions` stores. Two revisions are equal if their texts are equal. */
export const definitionText = (agent: AgentWithPrompt): string => JSON.stringify(toDefinition(agent));
