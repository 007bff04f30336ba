import type { DetectionField } from './detection-fields.ts';
import type { Detection } from './detection.schema.ts';
import { fieldEntries, type FieldColumns } from './field-types.ts';

/** A row of `agents`. Columns that store JSON are text. */
export type AgentRow = FieldColumns & {
  organization_id: string;
  id: string;
  agent_type: 'detection' | 'response';
  is_built_in: boolean;
  built_in_agent_type: Detection['builtInAgentType'];
  workflow_story_import_id: string | null;
  trigger_id: string;
  disabled_reason: string | null;
  is_suggestion: boolean;
  rationale: string | null;
  source_item_ids: string[];
  suggestion_fingerprint: string | null;
  /** Key under which threat research proposed the suggestion. Later edits of the suggestion keep it. */
  suggestion_key: string | null;
  technique: string | null;
  evidence: string;
  estimate: string | null;
  dismiss_reason: Detection['dismissReason'] | null;
  dismiss_note: string | null;
  enabled_before_deletion: boolean | null;
  active_prompt_id: string;
  /** Highest version in use. The active version may be older. */
  latest_prompt_version: number;
  revision: number;
  created_at: Date;
  updated_at: Date;
  deleted_at: Date | null;
};

/** The active version of the system prompt, joined to the agent row. */
export type ActivePrompt = {
  prompt: string;
  prompt_version: number;
  prompt_description: string;
  prompt_created_at: Date;
};

/** Statistics of the last 30 days and reviews of hits, joined to the agent row. */
export type AgentStats = {
  last_run_at: Date | null;
  runs: number;
  hits: number;
  avg_score: number | null;
  true_positives: number;
  benign: number;
  false_positives: number;
  /** JSON of the warnings about the query at the current revision. */
  query_warnings: string | null;
  /** Whether the connection that the agent queries exists. */
  siem_connected: boolean;
};

export type AgentWithPrompt = AgentRow & ActivePrompt;
export type AgentView = AgentWithPrompt & AgentStats;

export const emptyStats: AgentStats = {
  last_run_at: null,
  runs: 0,
  hits: 0,
  avg_score: null,
  true_positives: 0,
  benign: 0,
  false_positives: 0,
  query_warnings: null,
  siem_connected: true,
};

/** Returns the value of a field's column while the field is unset. */
export function emptyColumn({ nullable, json, default: value = null }: DetectionField): unknown {
  if (nullable) return null;
  return json ? JSON.stringify(value) : value;
}

const emptyFieldColumns = Object.fromEntries(
  fieldEntries.filter(([, { managed }]) => !managed).map(([, field]) => [field.column, emptyColumn(field)]),
) as Omit<FieldColumns, 'name' | 'enabled'>;

/** Initial columns of a new agent. */
export const emptyAgent = {
  ...emptyFieldColumns,
  enabled: false,
  is_built_in: false,
  built_in_agent_type: 'threat-research',
  workflow_story_import_id: null,
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
} satisfies Partial<AgentRow>;
