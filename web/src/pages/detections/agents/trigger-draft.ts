import type { Agent, NewTrigger, Trigger } from '../../../api/agents.ts';
import { readInput } from '../../../ui/agents/input-values.tsx';

/** Where an input comes from: a JSON pointer into the event, or a fixed value as it was typed. Empty: it is not set. */
export type InputSource = { kind: '' | 'from' | 'value'; text: string };

/** A trigger as the dialog edits it. */
export type TriggerDraft = {
  source: Trigger['source'];
  about: Trigger['about'];
  name: string;
  severity: NonNullable<Trigger['filter']['severity']> | '';
  detections: readonly string[];
  tags: string;
  entityTypes: string;
  runsPerHourMax: string;
  inputs: Readonly<Record<string, InputSource>>;
};

export const noSource: InputSource = { kind: '', text: '' };

/** Returns the draft of a trigger, or of a new one. */
export const draftTrigger = (trigger: Trigger | undefined): TriggerDraft => ({
  source: trigger?.source ?? 'hit.created',
  about: trigger?.about ?? 'hit',
  name: trigger && trigger.name !== trigger.source ? trigger.name : '',
  severity: trigger?.filter.severity ?? '',
  detections: trigger?.filter.detections ?? [],
  tags: trigger?.filter.tags?.join(', ') ?? '',
  entityTypes: trigger?.filter.entityTypes?.join(', ') ?? '',
  runsPerHourMax: String(trigger?.runsPerHourMax ?? 60),
  inputs: Object.fromEntries(
    Object.entries(trigger?.inputs ?? {}).map(([name, source]) => [
      name,
      'from' in source ? { kind: 'from', text: source.from } : { kind: 'value', text: String(source.value) },
    ]),
  ),
});

const split = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');

/** Returns the trigger of a draft. A webhook has no filter. Inputs that the agent no longer declares are left out. */
export function triggerOf(draft: TriggerDraft, inputs: Agent['inputs']): NewTrigger {
  const { source, name, severity, detections, runsPerHourMax } = draft;
  const tags = split(draft.tags);
  const entityTypes = split(draft.entityTypes);
  const filter = {
    ...(severity !== '' && { severity }),
    ...(detections.length > 0 && { detections: [...detections] }),
    ...(tags.length > 0 && { tags }),
    ...(entityTypes.length > 0 && { entityTypes }),
  };
  return {
    source,
    about: source.startsWith('incident.') ? draft.about : 'hit',
    ...(name.trim() !== '' && { name: name.trim() }),
    filter: source === 'webhook' ? {} : filter,
    runsPerHourMax: Number(runsPerHourMax),
    inputs: Object.fromEntries(
      inputs.flatMap(({ name: input, type }) => {
        const { kind, text } = draft.inputs[input] ?? noSource;
        if (kind === '') return [];
        return [[input, kind === 'from' ? { from: text } : { value: readInput(type, text) }]];
      }),
    ),
  };
}
