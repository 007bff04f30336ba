import { useNavigate } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { useState } from 'react';
import {
  acceptSuggestion,
  dismissSuggestion,
  restoreSuggestion,
  type DismissReason,
  type Suggestion,
  type SuggestionChange,
} from '../../api/suggestions.ts';
import { useHotkeys } from '../../lib/hotkeys.ts';
import { texts as common } from '../../texts/common.ts';
import { texts } from '../../texts/suggestions.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Key } from '../../ui/key.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { ExpectedNoise } from './expected-noise.tsx';
import { SourcePassages } from './source-passages.tsx';
import { useFocusReturn } from '../../lib/focus-return.ts';
import { CodeEditor } from '../../ui/code/code-editor.tsx';
import { SelectField, TextArea, TextField } from '../../ui/forms/field.tsx';
import { RestoredDraft, useDraft } from '../../ui/forms/use-draft.tsx';

type Props = { suggestion: Suggestion; onDecided: () => void; onClose: () => void };

const stale = [['suggestions', 'open'], ['suggestions', 'dismissed'], ['detections']];

/** One suggestion: why, from which sentence, as which query, and with how much noise. The decisions stand on top. */
export function SuggestionPanel({ suggestion, onDecided, onClose }: Props) {
  const { id, name, technique, rationale, deletedAt, dismissReason, dismissNote } = suggestion;
  const navigate = useNavigate();
  const [{ change }, setDraft, draft] = useDraft(`suggestion ${id}`, { change: {} as SuggestionChange });
  const setChange = (next: SuggestionChange): void => setDraft({ change: next });
  const note = useDraft(`dismissal ${id}`, { reason: 'not_relevant' as DismissReason, note: '' });
  const [isDismissing, setIsDismissing] = useState(false);
  const isChanged = Object.keys(change).length > 0;
  const restore = useChange({
    change: () => restoreSuggestion(id),
    refresh: stale,
    done: () => texts.restored(name),
    failed: texts.restoreFailed,
  });
  const accept = useChange({
    change: () => acceptSuggestion(suggestion, change),
    refresh: stale,
    draft,
    done: (detection) => {
      onDecided();
      const open = () => void navigate({ to: '/detections/$id', params: { id: detection.id } });
      return { title: texts.accepted(detection.name), action: { label: texts.openDetection, run: open } };
    },
    failed: texts.acceptFailed,
  });
  const dismiss = useChange({
    change: ({ reason, note }: Dismissal) => dismissSuggestion(suggestion, reason, note),
    refresh: stale,
    draft: note[2],
    done: () => {
      onDecided();
      return {
        title: texts.dismissed(name),
        action: { label: common.undo, run: () => restore.mutate(undefined) },
      };
    },
    failed: texts.dismissFailed,
  });
  const isOpen = deletedAt === null;
  const isBusy = accept.isPending || dismiss.isPending || restore.isPending;
  useHotkeys(
    {
      a: () => isOpen && accept.mutate(undefined),
      d: () => isOpen && setIsDismissing(true),
      r: () => !isOpen && restore.mutate(undefined),
    },
    { enabled: !isBusy && !isDismissing },
  );
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-2 border-b px-4 py-1.5">
        {isDismissing ? (
          <DismissForm
            draft={note}
            isBusy={isBusy}
            onCancel={() => setIsDismissing(false)}
            onDismiss={(reason, note) => dismiss.mutate({ reason, note })}
          />
        ) : isOpen ? (
          <>
            <Button kind="primary" disabled={isBusy} onClick={() => accept.mutate(undefined)} aria-keyshortcuts="a">
              {isChanged ? texts.acceptChanged : texts.accept}
              <Key>a</Key>
            </Button>
            <Button disabled={isBusy} onClick={() => setIsDismissing(true)} aria-keyshortcuts="d">
              {texts.dismiss}
              <Key>d</Key>
            </Button>
            {isChanged && (
              <Button kind="quiet" onClick={draft.reset}>
                {texts.discard}
              </Button>
            )}
          </>
        ) : (
          <Button kind="primary" disabled={isBusy} onClick={() => restore.mutate(undefined)} aria-keyshortcuts="r">
            {texts.restore}
            <Key>r</Key>
          </Button>
        )}
        <IconButton label={common.close} onClick={onClose} className="ml-auto self-start">
          <X className="size-4" aria-hidden />
        </IconButton>
      </div>
      <div data-scroll-restoration-id={id} className="flex min-h-0 grow flex-col gap-6 overflow-y-auto px-4 py-5">
        <div>
          <h2 className="text-15 font-strong break-words">{name}</h2>
          {technique && <p className="font-mono text-12 text-muted">{technique}</p>}
          {rationale && <p className="max-w-[72ch] pt-2 break-words text-muted">{rationale}</p>}
          {dismissReason && (
            <p className="pt-2 break-words">{[texts.reasons[dismissReason], dismissNote].filter(Boolean).join(': ')}</p>
          )}
        </div>
        <SourcePassages suggestion={suggestion} />
        <RestoredDraft draft={draft} />
        <DraftForm suggestion={suggestion} change={change} isReadOnly={!isOpen} onChange={setChange} />
        <ExpectedNoise suggestion={suggestion} isChanged={isChanged} />
      </div>
    </>
  );
}

type Dismissal = { reason: DismissReason; note: string };
type DismissProps = {
  draft: ReturnType<typeof useDraft<Dismissal>>;
  isBusy: boolean;
  onCancel: () => void;
  onDismiss: (reason: DismissReason, note: string) => void;
};

const control = 'h-7 min-w-24 rounded-control border border-line-strong bg-surface px-2';

/** Asks why. The reason keeps similar suggestions away. */
function DismissForm({ draft: [{ reason, note }, change, kept], isBusy, onCancel, onDismiss }: DismissProps) {
  useFocusReturn();
  return (
    <form
      className="flex min-w-0 grow flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onDismiss(reason, note.trim());
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onCancel();
      }}
    >
      <select
        autoFocus
        aria-label={texts.reason}
        value={reason}
        onChange={(event) => change({ reason: event.target.value as DismissReason })}
        className={`${control} shrink`}
      >
        {Object.entries(texts.reasons).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
      <input
        aria-label={texts.note}
        placeholder={texts.note}
        value={note}
        onChange={(event) => change({ note: event.target.value })}
        className={`${control} min-w-40 grow placeholder:text-faint`}
      />
      <Button kind="primary" type="submit" disabled={isBusy}>
        {texts.dismiss}
      </Button>
      <Button kind="quiet" onClick={onCancel}>
        {common.cancel}
      </Button>
      <RestoredDraft draft={kept} />
    </form>
  );
}

type DraftProps = {
  suggestion: Suggestion;
  /** The fields that differ from the suggestion. */
  change: SuggestionChange;
  isReadOnly: boolean;
  onChange: (change: SuggestionChange) => void;
};

type Cadence = NonNullable<Suggestion['detectionCadence']>;

/** The detection that the suggestion would become. Each field can be changed before it is accepted. */
function DraftForm({ suggestion, change, isReadOnly, onChange }: DraftProps) {
  const { name, detectionCadence, customCronSchedule, detectionQuery, activeSystemPrompt } = suggestion;
  const set = <Field extends keyof SuggestionChange>(
    field: Field,
    value: SuggestionChange[Field],
    suggested: unknown,
  ): void => {
    const { [field]: _, ...rest } = change;
    onChange(value === suggested ? rest : { ...rest, [field]: value });
  };
  const query = change.detectionQuery ?? detectionQuery ?? '';
  const prompt = change.systemPrompt ?? activeSystemPrompt.prompt;
  const cadence = change.detectionCadence ?? detectionCadence;
  return (
    <section className="flex flex-col gap-3">
      <h3 className="text-12 font-strong text-muted">{texts.query}</h3>
      <div className="flex flex-col gap-1">
        <span className="text-12 text-muted">{texts.sql}</span>
        <CodeEditor
          label={texts.sql}
          language="sql"
          value={query}
          {...(!isReadOnly && { onChange: (text: string) => set('detectionQuery', text, detectionQuery) })}
        />
      </div>
      <div className="grid gap-3 md:grid-cols-[1fr_10rem]">
        <TextField
          label={texts.name}
          value={change.name ?? name}
          readOnly={isReadOnly}
          onChange={(event) => set('name', event.target.value, name)}
        />
        <SelectField
          label={texts.schedule}
          value={cadence ?? ''}
          disabled={isReadOnly}
          options={[
            ...(detectionCadence === null ? [{ value: '', label: customCronSchedule ?? texts.custom }] : []),
            ...Object.entries(texts.schedules).map(([value, label]) => ({ value, label })),
          ]}
          onChange={(event) =>
            set('detectionCadence', (event.target.value || null) as Cadence | null, detectionCadence)
          }
        />
      </div>
      <details>
        <summary className="w-fit text-muted hover:text-ink">{texts.prompt}</summary>
        <div className="pt-2">
          <TextArea
            label={texts.prompt}
            value={prompt}
            readOnly={isReadOnly}
            rows={6}
            onChange={(event) => set('systemPrompt', event.target.value, activeSystemPrompt.prompt)}
          />
        </div>
      </details>
    </section>
  );
}
