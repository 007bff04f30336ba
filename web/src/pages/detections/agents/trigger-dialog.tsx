import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { changeTrigger, createTrigger, type Agent, type Trigger } from '../../../api/agents.ts';
import { toWords } from '../../../lib/text.ts';
import { nameTrigger, texts as all } from '../../../texts/agents.ts';
import { texts as common } from '../../../texts/common.ts';
import { inputPointer } from '../../../ui/agents/input-values.tsx';
import { Button } from '../../../ui/button.tsx';
import { FormError, SelectField, TextField, findFieldError } from '../../../ui/forms/field.tsx';
import { severities } from '../../../ui/labels/severity.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { DetectionPicker } from './detection-picker.tsx';
import { InputSources } from './input-sources.tsx';
import { draftTrigger, triggerOf, type TriggerDraft } from './trigger-draft.ts';

const texts = all.trigger;
const sources = ['hit.created', 'incident.created', 'incident.updated', 'webhook'] as const;

type Props = {
  agent: Agent;
  /** Without it, the dialog adds one. */
  trigger: Trigger | undefined;
  onSaved: (trigger: Trigger) => Promise<void>;
  onClose: () => void;
};

/** Adds or changes a trigger: which events start a run, and what the inputs are set to. Load it with `lazy`. */
export default function TriggerDialog({ agent, trigger, onSaved, onClose }: Props) {
  const [draft, setDraft] = useState(() => draftTrigger(trigger));
  const change = (part: Partial<TriggerDraft>): void => setDraft((old) => ({ ...old, ...part }));
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const { source, ...fields } = triggerOf(draft, agent.inputs);
      await onSaved(
        trigger ? await changeTrigger(trigger, fields) : await createTrigger(agent.id, { source, ...fields }),
      );
    },
    onSuccess: onClose,
  });
  return (
    <Dialog isWide title={trigger ? texts.editTitle(nameTrigger(trigger)) : texts.addTitle} onClose={onClose}>
      <form
        className="flex flex-col gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          mutate();
        }}
      >
        <div className="grid gap-4 md:grid-cols-2">
          <SelectField
            label={texts.source}
            value={draft.source}
            disabled={trigger !== undefined}
            options={sources.map((value) => ({ value, label: all.sources[value] }))}
            onChange={({ target }) => change({ source: target.value as TriggerDraft['source'] })}
          />
          <TextField
            label={texts.name}
            maxLength={255}
            placeholder={all.sources[draft.source]}
            error={findFieldError(error, '/name')}
            value={draft.name}
            onChange={({ target }) => change({ name: target.value })}
          />
        </div>
        {draft.source !== 'webhook' && <FilterFields draft={draft} error={error} onChange={change} />}
        <TextField
          label={texts.runsPerHourMax}
          hint={texts.runsPerHourHint}
          error={findFieldError(error, '/runsPerHourMax')}
          type="number"
          min={1}
          max={1000}
          required
          value={draft.runsPerHourMax}
          onChange={({ target }) => change({ runsPerHourMax: target.value })}
        />
        <InputSources
          inputs={agent.inputs}
          sources={draft.inputs}
          error={error}
          onChange={(inputs) => change({ inputs })}
        />
        <FormError
          error={error}
          shown={['/name', '/runsPerHourMax', ...agent.inputs.map(({ name }) => inputPointer(name))]}
        />
        <DialogActions>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            {trigger ? common.save : texts.add}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

type FilterProps = { draft: TriggerDraft; error: Error | null; onChange: (part: Partial<TriggerDraft>) => void };

/** Which hits or incidents start a run. */
function FilterFields({ draft, error, onChange }: FilterProps) {
  return (
    <>
      <SelectField
        label={texts.severity}
        value={draft.severity}
        options={[
          { value: '', label: texts.anySeverity },
          ...severities.map((value) => ({ value, label: toWords(value) })),
        ]}
        onChange={({ target }) => onChange({ severity: target.value as TriggerDraft['severity'] })}
      />
      <DetectionPicker chosen={draft.detections} onChange={(detections) => onChange({ detections })} />
      <div className="grid gap-4 md:grid-cols-2">
        {(['tags', 'entityTypes'] as const).map((name) => (
          <TextField
            key={name}
            label={texts[name]}
            hint={texts.byCommas}
            error={findFieldError(error, `/filter/${name}`)}
            value={draft[name]}
            onChange={({ target }) => onChange({ [name]: target.value })}
          />
        ))}
      </div>
    </>
  );
}
