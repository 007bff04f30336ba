import { isDeepStrictEqual } from 'node:util';
import { mergeUpdate } from '../merge-update.ts';
import { toDefinition, type Definition } from '../record/definition.ts';
import type { AgentView } from '../record/detection-row.ts';
import { detectionFields, type DetectionField } from '../record/detection-fields.ts';
import type { ColumnInput } from '../record/field-types.ts';
import type { PromptRow } from './prompts.store.ts';

/** Returns the agent with the definition and the prompt of an older revision. Throws 400 for the first field whose old value is no longer valid. */
export function restoreDefinition(
  before: AgentView,
  { definition, prompt, now }: { definition: Definition; prompt: PromptRow; now: Date },
): AgentView {
  return { ...mergeUpdate(before, diffDefinition(toDefinition(before), definition), now), ...toPromptColumns(prompt) };
}

/** Returns the fields of `wanted` that differ from `current`. Fields that are unset in `wanted` are null. */
function diffDefinition(current: Definition, wanted: Definition): ColumnInput {
  const names = Object.entries<DetectionField>(detectionFields).flatMap(([name, field]) =>
    field.managed || field.outsideDefinition ? [] : [name as keyof ColumnInput],
  );
  const changed = names.filter((name) => !isDeepStrictEqual(current[name], wanted[name]));
  return Object.fromEntries(changed.map((name) => [name, wanted[name] ?? null]));
}

/** Returns the columns that make a prompt version the active one. */
export function toPromptColumns(prompt: PromptRow): Partial<AgentView> {
  return {
    active_prompt_id: prompt.id,
    prompt: prompt.prompt,
    prompt_version: prompt.version,
    prompt_description: prompt.description,
    prompt_created_at: prompt.createdAt,
  };
}
