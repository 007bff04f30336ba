import { hash } from 'node:crypto';
import type { DetectionField } from './detection-fields.ts';
import type { Detection } from './detection.schema.ts';
import {
  fieldEntries,
  type FieldColumns,
  type ColumnInput,
  type DefinitionFields,
  type RecordFieldName,
} from './field-types.ts';

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
type AgentStats = {
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
  /** JSON array of the triggers of a response agent besides its schedule, as `triggerSummary` shows them. Null if there are none. */
  other_triggers: string | null;
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
  other_triggers: null,
};

/** Returns the value of a field's column while the field is unset. */
function emptyColumn({ nullable, json, default: value = null }: DetectionField): unknown {
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

const columnEntries = fieldEntries.filter(([, { managed }]) => !managed);
const recordEntries = fieldEntries.filter(([, { output }]) => output);
const definitionEntries = fieldEntries.filter(([, { outsideDefinition }]) => !outsideDefinition);

/**
 * Returns the columns that a body sets. A field that is absent sets no column, and null resets the column. Throws 400 for
 * values that the body's schema cannot check. `now` is slot time.
 */
export function toColumns(input: ColumnInput, now: Date): Partial<AgentRow> {
  const values: Record<string, unknown> = input;
  const columns: Record<string, unknown> = {};
  for (const [name, field] of columnEntries) {
    const value = values[name];
    if (value !== undefined) columns[field.column] = value === null ? emptyColumn(field) : toColumn(field, value, now);
  }
  return columns;
}

function toColumn(field: DetectionField, value: unknown, now: Date): unknown {
  if (field.normalize) return field.normalize(value as string, now);
  if (!field.json) return value;
  const text = JSON.stringify(value);
  // Null stands for the default, so that a later version can change the default.
  return field.nullable && text === JSON.stringify(field.default) ? null : text;
}

function readColumn({ column, json }: DetectionField, row: Record<string, unknown>): unknown {
  const stored = row[column];
  return json && stored !== null ? (JSON.parse(stored as string) as unknown) : stored;
}

/** Returns the fields of the table as the record shows them. */
export function toRecordFields(row: AgentWithPrompt): Pick<Detection, RecordFieldName> {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of recordEntries) {
    const value = readColumn(field, row) ?? unsetValue(field, field.recordWhenUnset);
    if (value !== undefined) fields[name] = value;
  }
  return fields as Pick<Detection, RecordFieldName>;
}

/** Returns the fields of the table that a revision keeps. */
export function toDefinitionFields(row: AgentWithPrompt): DefinitionFields {
  const fields: Record<string, unknown> = {};
  for (const [name, field] of definitionEntries) {
    const value = readColumn(field, row) ?? unsetValue(field, field.definitionWhenUnset);
    if (value !== undefined) fields[name] = value;
  }
  return fields as DefinitionFields;
}

/** Returns a create body that reproduces the detection. Unset fields that a body cannot set to null are left out. */
export function toCreateBody(row: AgentWithPrompt): Record<string, unknown> {
  const values = fieldEntries.map(([name, field]) => [name, readColumn(field, row), field.default] as const);
  return Object.fromEntries(
    values.filter(([, value, byDefault]) => value !== null || byDefault === null).map(([name, value]) => [name, value]),
  );
}

function unsetValue(field: DetectionField, whenUnset: 'omitted' | 'default' | undefined): unknown {
  if (whenUnset === undefined) return null;
  return whenUnset === 'default' ? field.default : undefined;
}

/** Returns a SHA-256 hash (hex) of category and query that ignores case and white space. Suggestions with the same hash are look-alikes. */
export function suggestionFingerprint(agent: Pick<AgentRow, 'detection_category' | 'detection_query'>): string {
  const query = (agent.detection_query ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  return hash('sha256', `${agent.detection_category}\n${query}`);
}
