import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { connectionsQuery } from '../../api/connections.ts';
import { runHunt, saveHunt, type Hunt, type HuntKind, type NewHunt } from '../../api/hunts.ts';
import { texts } from '../../texts/hunts.ts';
import { Button } from '../../ui/button.tsx';
import { findFieldError, FormError, SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';
import { SegmentedControl } from '../../ui/forms/segmented-control.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

type Props = { hunt: Hunt | undefined; onSaved: (id: string) => void };

type Draft = Omit<NewHunt, 'span' | 'connectionId' | 'cadence'> & {
  connectionId: string;
  days: string;
  fixed: { from: string; to: string } | null;
  cadence: keyof typeof texts.cadences;
};

const initial: Draft = {
  name: '',
  kind: 'sql',
  question: '',
  connectionId: '',
  days: '30',
  fixed: null,
  cadence: 'never',
};

function toDraft({ name, kind, question, connectionId, span, cadence }: Hunt): Draft {
  const fixed = 'from' in span ? { from: toInput(span.from), to: toInput(span.to) } : null;
  const days = 'days' in span ? String(span.days) : initial.days;
  return { name, kind, question, connectionId: connectionId ?? '', days, fixed, cadence: cadence ?? 'never' };
}

/** A `datetime-local` input has no zone: the times are in UTC. */
const toInput = (time: string): string => time.slice(0, 16);
const toTime = (input: string): string => (input === '' ? '' : `${input.slice(0, 16)}:00Z`);

const toHunt = ({ name, kind, question, connectionId, days, fixed, cadence }: Draft): NewHunt => ({
  name: name.trim(),
  kind,
  question: question.trim(),
  connectionId: connectionId === '' || kind === 'technique' ? null : connectionId,
  span: fixed ? { from: toTime(fixed.from), to: toTime(fixed.to) } : { days: Number(days) },
  cadence: cadence === 'never' || fixed ? null : cadence,
});

const pointers = ['/name', '/question', '/connectionId', '/span/days', '/span/from', '/span/to'];

/** A new hunt, which runs when it is saved, or the settings of one. */
export function HuntForm({ hunt, onSaved }: Props) {
  const [seen] = useState(hunt);
  const [draft, set, kept] = useDraft(`hunt ${seen?.id ?? ''}`, seen ? toDraft(seen) : initial);
  const { data } = useQuery(connectionsQuery);
  const connections = data?.connections ?? [];
  const { mutate, isPending, error } = useChange({
    change: async (input: NewHunt) => {
      const saved = await saveHunt(input, seen);
      // A hunt with a cadence runs on its own.
      if (!seen && saved.cadence === null) await runHunt(saved.id);
      return saved;
    },
    refresh: [['hunts']],
    done: () => texts.saved,
    draft: kept,
  });
  const { label, hint } = texts.questions[draft.kind];
  const question = {
    label,
    hint,
    required: true,
    maxLength: 100_000,
    value: draft.question,
    error: findFieldError(error, '/question'),
    className: 'font-mono text-12',
  };
  return (
    <form
      className="flex flex-col gap-4 px-4 py-5"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(toHunt(draft), { onSuccess: ({ id }) => onSaved(id) });
      }}
    >
      <h2 className="text-15 font-strong break-words">{seen ? texts.editTitle(seen.name) : texts.add}</h2>
      <TextField
        label={texts.name}
        required
        maxLength={100}
        value={draft.name}
        onChange={({ target }) => set({ name: target.value })}
        error={findFieldError(error, '/name')}
      />
      <SegmentedControl<HuntKind>
        label={texts.kind}
        options={texts.kinds}
        value={draft.kind}
        onChange={(kind) => set({ kind })}
      />
      {draft.kind === 'technique' ? (
        <TextField {...question} onChange={({ target }) => set({ question: target.value })} />
      ) : (
        <TextArea {...question} rows={8} onChange={({ target }) => set({ question: target.value })} />
      )}
      {draft.kind !== 'technique' && connections.length > 0 && (
        <SelectField
          label={texts.connection}
          options={[
            { value: '', label: texts.store },
            ...connections.map(({ id, name }) => ({ value: id, label: name })),
          ]}
          value={draft.connectionId}
          onChange={({ target }) => set({ connectionId: target.value })}
          error={findFieldError(error, '/connectionId')}
        />
      )}
      <SegmentedControl
        label={texts.span}
        options={texts.spans}
        value={draft.fixed ? 'fixed' : 'days'}
        onChange={(span) => set({ fixed: span === 'fixed' ? { from: '', to: '' } : null })}
      />
      {draft.fixed ? (
        <div className="grid grid-cols-2 gap-3">
          {(['from', 'to'] as const).map((name) => (
            <TextField
              key={name}
              label={texts[name]}
              type="datetime-local"
              required
              value={draft.fixed![name]}
              onChange={({ target }) => set({ fixed: { ...draft.fixed!, [name]: target.value } })}
              error={findFieldError(error, `/span/${name}`)}
            />
          ))}
        </div>
      ) : (
        <div className="grid grid-cols-2 gap-3">
          <TextField
            label={texts.days}
            type="number"
            min={1}
            max={3650}
            required
            value={draft.days}
            onChange={({ target }) => set({ days: target.value })}
            error={findFieldError(error, '/span/days')}
          />
          <SelectField
            label={texts.cadence}
            options={Object.entries(texts.cadences).map(([value, text]) => ({ value, label: text }))}
            value={draft.cadence}
            onChange={({ target }) => set({ cadence: target.value as Draft['cadence'] })}
          />
        </div>
      )}
      <FormError error={error} shown={pointers} />
      <RestoredDraft draft={kept} />
      <Button kind="primary" type="submit" disabled={isPending} className="self-start">
        {seen ? texts.save : texts.create}
      </Button>
    </form>
  );
}
