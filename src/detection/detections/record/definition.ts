import type { DetectionCategory } from '../../analysis/candidate.ts';
import type { AgentWithPrompt } from './detection-row.ts';
import type { BudgetOverrides } from './budgets.schema.ts';
import { effectiveCron } from './cadence.ts';
import type { Cadence, Detection } from './detection.schema.ts';
import type { OutputSchema } from './detection-fields.ts';

/**
 * A detection as it was at one revision, with everything that a run needs. `structuredOutputSchema` null: the default verdict;
 * `lookbackMinutes` null: from the cron. Revisions older than the three optional fields lack them.
 */
export type Definition = {
  name: string;
  description: string;
  detectionCategory: DetectionCategory;
  detectionQuery: string;
  siemType: string | null;
  connectionId: string | null;
  entityField: string | null;
  timeField: string | null;
  cronSchedule: string | null;
  lookbackMinutes: number | null;
  suppressionMinutes: number;
  /** Absent: those of the alias alone. */
  budgets?: BudgetOverrides;
  toolNames: string[];
  inputs: Detection['inputs'];
  contextDocs: Detection['contextDocs'];
  modelAlias: string;
  planningMode: Detection['planningMode'];
  mode: Detection['mode'];
  structuredOutputSchema: OutputSchema | null;
  promptId: string;
  promptVersion: number;
  systemPrompt: string;
  tags?: string[];
  detectionCadence?: Cadence | null;
  customCronSchedule?: string | null;
};

export const suppressionDefaultMinutes = 360;

/** The definition as JSON text, as it stands in `agent_revisions`; two texts that differ are two revisions. */
export function definitionText(agent: AgentWithPrompt): string {
  return JSON.stringify({
    name: agent.name,
    description: agent.description,
    detectionCategory: agent.detection_category,
    detectionQuery: agent.detection_query,
    siemType: agent.siem_type,
    connectionId: agent.connection_id,
    entityField: agent.entity_field,
    timeField: agent.time_field,
    cronSchedule: effectiveCron(agent),
    lookbackMinutes: agent.lookback_minutes,
    suppressionMinutes: agent.suppression_minutes ?? suppressionDefaultMinutes,
    ...(agent.budgets === null ? {} : { budgets: JSON.parse(agent.budgets) as BudgetOverrides }),
    toolNames: agent.tool_names,
    inputs: JSON.parse(agent.inputs),
    contextDocs: JSON.parse(agent.context_docs),
    modelAlias: agent.model_alias,
    planningMode: agent.planning_mode,
    mode: agent.mode,
    structuredOutputSchema: agent.structured_output_schema === null ? null : JSON.parse(agent.structured_output_schema),
    promptId: agent.active_prompt_id,
    promptVersion: agent.prompt_version,
    systemPrompt: agent.prompt,
    tags: agent.tags,
    detectionCadence: agent.detection_cadence,
    customCronSchedule: agent.custom_cron_schedule,
  });
}
