import type { DetectionCategory } from '../../analysis/candidate.ts';
import type { Cadence, Detection } from './detection.schema.ts';

/** A row of `agents`. Columns whose JSON is only handed through are text. */
export type Agent = {
  organization_id: string;
  id: string;
  agent_type: 'detection' | 'response';
  is_built_in: boolean;
  built_in_agent_type: Detection['builtInAgentType'];
  name: string;
  description: string;
  tool_names: string[];
  inputs: string;
  context_docs: string;
  model_alias: string;
  planning_mode: Detection['planningMode'];
  mode: Detection['mode'];
  structured_output_schema: string | null;
  tags: string[];
  workflow_story_import_id: string | null;
  detection_category: DetectionCategory | null;
  detection_query: string | null;
  siem_type: string | null;
  connection_id: string | null;
  entity_field: string | null;
  time_field: string | null;
  lookback_minutes: number | null;
  suppression_minutes: number | null;
  budgets: string | null;
  detection_cadence: Cadence | null;
  custom_cron_schedule: string | null;
  trigger_id: string;
  enabled: boolean;
  disabled_reason: string | null;
  is_suggestion: boolean;
  rationale: string | null;
  source_item_ids: string[];
  suggestion_fingerprint: string | null;
  /** What the program proposed, whatever became of its text since. */
  suggestion_key: string | null;
  technique: string | null;
  evidence: string;
  estimate: string | null;
  dismiss_reason: Detection['dismissReason'] | null;
  dismiss_note: string | null;
  enabled_before_deletion: boolean | null;
  active_prompt_id: string;
  /** The highest version given out; the active one may be older. */
  latest_prompt_version: number;
  revision: number;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
};

/** The active version of the system prompt, joined to the row. */
export type ActivePrompt = {
  prompt: string;
  prompt_version: number;
  prompt_description: string;
  prompt_created_at: Date;
};

/** The 30-day figures and what people said of the hits, joined to the row. */
export type Figures = {
  last_run_at: Date | null;
  runs: number;
  hits: number;
  avg_score: number | null;
  true_positives: number;
  benign: number;
  false_positives: number;
  /** There is a connection that it asks. */
  siem_connected: boolean;
};

export type AgentWithPrompt = Agent & ActivePrompt;
export type AgentView = AgentWithPrompt & Figures;

export const noFigures: Figures = {
  last_run_at: null,
  runs: 0,
  hits: 0,
  avg_score: null,
  true_positives: 0,
  benign: 0,
  false_positives: 0,
  siem_connected: true,
};

/** Columns of a new agent that nothing but a request sets. */
export const emptyAgent = {
  is_built_in: false,
  built_in_agent_type: 'threat-research',
  description: '',
  tool_names: [],
  inputs: '[]',
  context_docs: '[]',
  model_alias: 'default',
  planning_mode: 'auto',
  mode: 'standard',
  structured_output_schema: null,
  tags: [],
  workflow_story_import_id: null,
  detection_category: null,
  detection_query: null,
  siem_type: null,
  connection_id: null,
  entity_field: null,
  time_field: null,
  lookback_minutes: null,
  suppression_minutes: null,
  budgets: null,
  detection_cadence: null,
  custom_cron_schedule: null,
  enabled: false,
  disabled_reason: null,
  is_suggestion: false,
  rationale: null,
  source_item_ids: [],
  suggestion_fingerprint: null,
  suggestion_key: null,
  technique: null,
  evidence: '[]',
  estimate: null,
  dismiss_reason: null,
  dismiss_note: null,
  enabled_before_deletion: null,
  latest_prompt_version: 1,
  revision: 1,
  deleted_at: null,
} satisfies Partial<Agent>;
