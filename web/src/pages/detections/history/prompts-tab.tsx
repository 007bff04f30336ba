import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { activatePrompt, createPrompt, promptDiffQuery, promptsQuery } from '../../../api/detection-parts.ts';
import type { Detection } from '../../../api/detections.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { texts as common } from '../../../texts/common.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeEditor } from '../../../ui/code/code-editor.tsx';
import { DiffView } from '../../../ui/code/diff-view.tsx';
import { TextInput } from '../../../ui/forms/form.tsx';
import { Section } from '../../../ui/section.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { VersionList } from './version-list.tsx';
import { type Draft as KeptDraft, RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = proof.prompts;

/** A new version that is being written, with a note about the change. */
type Draft = { text: string; note: string };

/** The versions of the prompt of a detection or response agent: what changed between them, and which one is used. */
export default function PromptsTab({ detection }: { detection: Detection }) {
  const { id } = detection;
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(promptsQuery(id));
  const [chosen, setChosen] = useState<number>();
  const [{ draft }, setValues, kept] = useDraft(`prompt ${id}`, { draft: null as Draft | null });
  const setDraft = (next: Draft): void => setValues({ draft: next });
  const onError = ({ message }: Error): void =>
    void toasts.add({ title: texts.failed, description: message, isError: true });
  const refresh = async (): Promise<void> => {
    await Promise.all(['detections', 'agents'].map((key) => client.invalidateQueries({ queryKey: [key] })));
  };
  const activate = useMutation({
    mutationFn: (version: number) => activatePrompt(detection, version),
    onSuccess: (_record, version) => {
      toasts.add({ title: texts.activated(version) });
      return refresh();
    },
    onError,
  });
  const save = useMutation({
    mutationFn: ({ text, note }: Draft) =>
      createPrompt(id, { prompt: text, ...(note !== '' && { description: note }) }),
    onSuccess: ({ version }) => {
      kept.reset();
      setChosen(version);
      toasts.add({
        title: texts.saved(version),
        action: { label: texts.activate, run: () => activate.mutate(version) },
      });
      return refresh();
    },
    onError,
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const { prompts } = data;
  const shown =
    prompts.find(({ version }) => version === chosen) ?? prompts.find(({ active }) => active) ?? prompts[0]!;
  const before = prompts.find(({ version }) => version < shown.version);
  return (
    <div className="flex max-w-6xl gap-8 px-4 py-5 max-md:flex-col">
      <VersionList
        label={texts.versions}
        versions={prompts.map(({ version, description, ...rest }) => ({
          ...rest,
          number: version,
          title: texts.text_of(version),
          note: description,
        }))}
        shown={shown.version}
        onChoose={setChosen}
      />
      <div className="flex min-w-0 grow flex-col gap-6">
        {draft ? (
          <PromptDraft
            draft={draft}
            isSaving={save.isPending}
            onChange={setDraft}
            onSave={() => save.mutate(draft)}
            kept={kept}
          />
        ) : (
          <>
            <Section
              level={2}
              title={texts.text_of(shown.version)}
              actions={
                <>
                  <Button onClick={() => setDraft({ text: shown.prompt, note: '' })}>{texts.edit}</Button>
                  {!shown.active && (
                    <Button kind="primary" disabled={activate.isPending} onClick={() => activate.mutate(shown.version)}>
                      {texts.activate}
                    </Button>
                  )}
                </>
              }
            >
              <p className="max-w-[72ch] rounded-control border bg-ground px-3 py-2 break-words whitespace-pre-wrap">
                {shown.prompt}
              </p>
            </Section>
            {before && <Changes id={id} from={before.version} to={shown.version} />}
          </>
        )}
      </div>
    </div>
  );
}

type PromptDraftProps = {
  draft: Draft;
  isSaving: boolean;
  onChange: (draft: Draft) => void;
  onSave: () => void;
  kept: KeptDraft;
};

function PromptDraft({ draft, isSaving, onChange, onSave, kept }: PromptDraftProps) {
  return (
    <Section level={2} title={texts.edit}>
      <CodeEditor
        label={texts.text}
        language="text"
        value={draft.text}
        onChange={(text) => onChange({ ...draft, text })}
      />
      <TextInput
        aria-label={texts.note}
        placeholder={texts.note}
        value={draft.note}
        onChange={(event) => onChange({ ...draft, note: event.target.value })}
      />
      <RestoredDraft draft={kept} />
      <div className="flex gap-1.5">
        <Button kind="primary" disabled={isSaving || draft.text.trim() === ''} onClick={onSave}>
          {texts.save}
        </Button>
        <Button kind="quiet" onClick={kept.reset}>
          {common.cancel}
        </Button>
      </div>
    </Section>
  );
}

function Changes({ id, from, to }: { id: string; from: number; to: number }) {
  const { data } = useQuery(promptDiffQuery(id, from, to));
  if (!data) return null;
  return (
    <Section
      level={2}
      title={`${texts.compare} ${from}`}
      actions={<span className="tabular text-12 text-muted">{texts.changes(data.added, data.removed)}</span>}
    >
      {data.added + data.removed === 0 ? <p className="text-muted">{texts.same}</p> : <DiffView lines={data.lines} />}
    </Section>
  );
}
