import { useMutation, useQueryClient, type QueryKey } from '@tanstack/react-query';
import { useState } from 'react';
import type { Detection, DetectionChanges } from '../../../api/detections.ts';
import { texts } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { changedFields, changesBetween, draftOf, type Draft, type FormProps } from './draft.ts';
import { problemFinder } from './problem-finder.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

type Props = {
  stored: Detection;
  /** The queries that a change makes stale. */
  refresh: QueryKey;
  save: (seen: Detection, changes: DetectionChanges) => Promise<unknown>;
  renderForm: (form: FormProps & { isChanged: boolean; footer: React.ReactNode }) => React.ReactNode;
};

/** Keeps the edits of a stored definition and saves what changed, based on the version that was edited. */
export function EditedDefinition({ stored, refresh, save, renderForm }: Props) {
  const client = useQueryClient();
  const [{ edits }, setEdits, kept] = useDraft(`definition ${stored.id}`, { edits: {} as Partial<Draft> });
  /** The record as it was when the editing began. Undefined without edits. */
  const [seen, setSeen] = useState<Detection>();
  const base = seen ?? stored;
  const before = draftOf(base);
  const draft = { ...before, ...edits };
  const changed = changedFields(before, draft);
  const forget = (): void => {
    kept.reset();
    setSeen(undefined);
  };
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: async () => save(base, changesBetween(before, draft)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: refresh });
      forget();
      toasts.add({ title: texts.saved });
    },
  });
  return renderForm({
    draft,
    isChanged: changed.length > 0,
    onChange: (change) => {
      setSeen(base);
      setEdits((old) => ({ edits: { ...old.edits, ...change } }));
    },
    problemOf: problemFinder(error),
    footer: (
      <>
        <Button kind="primary" disabled={changed.length === 0 || isPending} onClick={() => mutate()}>
          {texts.save}
        </Button>
        {changed.length > 0 && (
          <Button
            kind="quiet"
            onClick={() => {
              forget();
              reset();
            }}
          >
            {texts.discard}
          </Button>
        )}
        <span className={error ? 'text-bad' : 'text-12 text-faint'} role={error ? 'alert' : undefined}>
          {error
            ? `${texts.failed} ${error.message}`
            : changed.length === 0
              ? texts.unchanged
              : texts.changed(changed.length)}
        </span>
        <RestoredDraft draft={{ ...kept, reset: forget }} />
      </>
    ),
  });
}
