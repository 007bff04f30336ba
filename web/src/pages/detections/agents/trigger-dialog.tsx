import { useMutation, useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { useState, useDeferredValue } from 'react';
import { changeTrigger, createTrigger, type Agent, type Trigger } from '../../../api/agents.ts';
import { detectionQuery, summariesQuery } from '../../../api/detections.ts';
import { toWords, shortenMiddle } from '../../../lib/text.ts';
import { nameTrigger, texts as all } from '../../../texts/agents.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as detections } from '../../../texts/detections.ts';
import { inputPointer } from '../../../ui/agents/input-values.tsx';
import { Button } from '../../../ui/button.tsx';
import { FormError, SelectField, TextField, findFieldError } from '../../../ui/forms/field.tsx';
import { FilterChip } from '../../../ui/forms/filter-chip.tsx';
import { severities } from '../../../ui/labels/severity.tsx';
import { Dialog, DialogActions } from '../../../ui/overlays/dialog.tsx';
import { draftTrigger, triggerOf, type TriggerDraft, noSource, type InputSource } from './trigger-draft.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = all.trigger;
const sources = ['hit.created', 'incident.created', 'incident.updated', 'incident.closed', 'webhook'] as const;

type Props = {
  agent: Agent;
  /** Without it, the dialog adds one. */
  trigger: Trigger | undefined;
  onSaved: (trigger: Trigger) => Promise<void>;
  onClose: () => void;
};

/** Adds or changes a trigger: which events start a run, and what the inputs are set to. Load it with `lazy`. */
export default function TriggerDialog({ agent, trigger, onSaved, onClose }: Props) {
  const [draft, change, kept] = useDraft(`trigger ${agent.id} ${trigger?.id ?? ''}`, draftTrigger(trigger));
  const { mutate, error, isPending } = useMutation({
    mutationFn: async () => {
      const { source, ...fields } = triggerOf(draft, agent.inputs);
      await onSaved(
        trigger ? await changeTrigger(trigger, fields) : await createTrigger(agent.id, { source, ...fields }),
      );
    },
    onSuccess: () => {
      kept.reset();
      onClose();
    },
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
            placeholder={all.sources[draft.source]}
            error={findFieldError(error, '/name')}
            value={draft.name}
            onChange={({ target }) => change({ name: target.value })}
          />
        </div>
        {draft.source.startsWith('incident.') && (
          <SelectField
            label={texts.about}
            value={draft.about}
            options={(['hit', 'incident'] as const).map((value) => ({ value, label: texts.abouts[value] }))}
            onChange={({ target }) => change({ about: target.value as TriggerDraft['about'] })}
          />
        )}
        {draft.source !== 'webhook' && <FilterFields draft={draft} error={error} onChange={change} />}
        <TextField
          label={texts.runsPerHourMax}
          hint={texts.runsPerHourHint}
          error={findFieldError(error, '/runsPerHourMax')}
          type="number"
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
        <RestoredDraft draft={kept} />
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

const shownMax = 6;

type PickerProps = { chosen: readonly string[]; onChange: (ids: string[]) => void };

/** The detections of a filter, which are found by a part of their names. */
function DetectionPicker({ chosen, onChange }: PickerProps) {
  const [text, setText] = useState('');
  const q = useDeferredValue(text.trim());
  const { data } = useInfiniteQuery({ ...summariesQuery({ q: q || undefined }), enabled: q !== '' });
  const found = q === '' ? [] : (data?.pages[0]?.detections ?? []).filter(({ id }) => !chosen.includes(id));
  const records = useQueries({ queries: chosen.map((id) => detectionQuery(id)) });
  return (
    <div className="flex flex-col gap-2">
      <TextField
        label={texts.detections}
        hint={texts.detectionsHint}
        placeholder={texts.findDetection}
        value={text}
        onChange={({ target }) => setText(target.value)}
      />
      {found.length > 0 && (
        <ul aria-label={texts.findDetection} className="flex flex-col rounded-control border">
          {found.slice(0, shownMax).map(({ id, name }) => (
            <li key={id}>
              <button
                type="button"
                className="w-full truncate px-2.5 py-1 text-left -outline-offset-2 hover:bg-hover"
                onClick={() => {
                  onChange([...chosen, id]);
                  setText('');
                }}
              >
                {name}
              </button>
            </li>
          ))}
        </ul>
      )}
      {chosen.length > 0 && (
        <div className="flex flex-wrap gap-1.5">
          {chosen.map((id, index) => (
            <FilterChip
              key={id}
              label={detections.one}
              value={records[index]?.data?.name ?? shortenMiddle(id)}
              onRemove={() => onChange(chosen.filter((other) => other !== id))}
            />
          ))}
        </div>
      )}
    </div>
  );
}

const kinds = (['', 'from', 'value'] as const).map((value) => ({ value, label: texts[value || 'unset'] }));

type InputProps = {
  inputs: Agent['inputs'];
  sources: TriggerDraft['inputs'];
  error: Error | null;
  onChange: (sources: TriggerDraft['inputs']) => void;
};

/** What a trigger sets each input of an agent to. */
function InputSources({ inputs, sources, error, onChange }: InputProps) {
  if (inputs.length === 0) return null;
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="text-12 font-strong text-muted">{texts.inputs}</legend>
      <p className="text-12 text-faint">{texts.inputsHint}</p>
      {inputs.map(({ name, required }) => {
        const source = sources[name] ?? noSource;
        const change = (part: Partial<InputSource>): void => onChange({ ...sources, [name]: { ...source, ...part } });
        return (
          <div key={name} className="grid gap-2 md:grid-cols-[10rem_minmax(0,1fr)]">
            <SelectField
              label={texts.kind(name)}
              value={source.kind}
              options={kinds}
              required={required}
              onChange={({ target }) => change({ kind: target.value as InputSource['kind'] })}
            />
            {source.kind !== '' && (
              <TextField
                label={texts[source.kind]}
                required
                className="font-mono text-12"
                placeholder={source.kind === 'from' ? '/entity' : undefined}
                error={findFieldError(error, inputPointer(name))}
                value={source.text}
                onChange={({ target }) => change({ text: target.value })}
              />
            )}
          </div>
        );
      })}
    </fieldset>
  );
}
