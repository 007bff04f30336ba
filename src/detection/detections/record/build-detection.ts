import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { checkLookback, effectiveCron, isEnabledAfter, zonedCron } from './cron-schedule.ts';
import { toDefinition, type Definition } from './detection-record.ts';
import type { CreateAgent, CreateDetection } from './detection-input.schema.ts';
import { emptyAgent, type AgentWithPrompt, type AgentView, type AgentRow, toColumns } from './detection-row.ts';
import type { ColumnInput } from './field-types.ts';
import { appError, fieldError } from '../../../platform/lib/errors.ts';
import { findUnusedTuning } from '../../analysis/category-tuning.ts';
import type { Tuning } from '../../analysis/tuning.schema.ts';

/** Returns the definition that a create body leads to, without storing anything. Throws the same 400 errors as create. `now` is slot time. */
export function buildDefinition({ orgId }: { orgId: OrgId }, input: CreateDetection, now: Date): Definition {
  return toDefinition(buildAgent({ orgId }, input, now));
}

/**
 * Returns the agent row that a create body leads to, with its first prompt version: a detection if the body has a query, else a response agent. Throws 400
 * if the fields contradict each other.
 */
export function buildAgent(
  { orgId }: { orgId: OrgId },
  input: CreateDetection | CreateAgent,
  now: Date,
): AgentWithPrompt {
  const agent: AgentWithPrompt = {
    ...emptyAgent,
    organization_id: orgId,
    id: uuidv7(now),
    agent_type: 'detectionQuery' in input ? 'detection' : 'response',
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

type MergeInput = ColumnInput & { systemPrompt?: string | undefined; enabled?: boolean | undefined };

/** Returns the agent after an update. Absent fields are unchanged. Throws 400 if the resulting fields contradict each other. */
export function mergeUpdate(before: AgentView, input: MergeInput, now: Date): AgentView {
  const after: AgentView = {
    ...before,
    ...toColumns(withoutUnchangedCron(before, input), now),
    ...nextPromptVersion(before, input.systemPrompt, now),
  };
  const [cronBefore, cron] = [zonedCron(before), zonedCron(after)];
  after.enabled = isEnabledAfter({ cron: cronBefore, enabled: before.enabled }, cron, input.enabled);
  if (after.enabled) after.disabled_reason = null;
  if (cron !== cronBefore || after.lookback_minutes !== before.lookback_minutes) checkLookback(after);
  checkTuning(after);
  return after;
}

/** Skips the validation of a cron expression that is already stored, since it depends on the current time. */
function withoutUnchangedCron(before: AgentView, input: ColumnInput): ColumnInput {
  const isUnchanged = input.customCronSchedule === before.custom_cron_schedule;
  return isUnchanged ? { ...input, customCronSchedule: undefined } : input;
}

/** Prompt versions are immutable, so a new text becomes the next version and the active one. */
function nextPromptVersion(before: AgentView, prompt: string | undefined, now: Date): Partial<AgentView> {
  if (prompt === undefined || prompt === before.prompt) return {};
  const version = before.latest_prompt_version + 1;
  return {
    prompt,
    active_prompt_id: uuidv7(now),
    prompt_version: version,
    latest_prompt_version: version,
    prompt_description: '',
    prompt_created_at: now,
  };
}

/** Throws 400 if the tuning has a field that the category does not use, because the author would expect an effect. */
function checkTuning({ tuning, detection_category: category }: Pick<AgentRow, 'tuning' | 'detection_category'>): void {
  if (tuning === null || category === null) return;
  const unused = findUnusedTuning(JSON.parse(tuning) as Tuning, category);
  if (unused) throw fieldError(`/tuning/${unused.field}`, 'not_used', `\`${unused.field}\` ${unused.detail}`);
}

/** The part of the model settings that validation needs. Absent if no models are configured. */
export type ModelAliases = { aliases: readonly string[]; names: Readonly<Record<string, string>> } | undefined;

/** Aliases that exist without model settings. Both are the built-in analyst as long as no model is configured. */
const builtInAliases: readonly string[] = ['default', 'analyst'];

/** Throws 409 if no model stands behind the alias, for an agent that cannot work without one. */
export function requireModelAlias(models: ModelAliases, alias: string): void {
  if (models?.names[alias] !== undefined) return;
  throw appError(
    'conflict',
    `No model is configured for the alias "${alias}". A response agent cannot work without one.`,
  );
}

/** Throws 400 if the model settings do not define the alias. */
export function checkModelAlias(models: ModelAliases, alias: string | undefined): void {
  const known = models?.aliases ?? builtInAliases;
  if (alias === undefined || known.includes(alias)) return;
  throw fieldError(
    '/modelAlias',
    'unknown_model_alias',
    `There is no model alias "${alias}". Known aliases: ${known.join(', ')}.`,
  );
}
