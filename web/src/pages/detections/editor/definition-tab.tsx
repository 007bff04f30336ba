import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeDetection, type Detection } from '../../../api/detections.ts';
import { texts } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { changedFields, changesBetween, draftOf, type Draft } from './draft.ts';
import { EditorLayout } from './editor-layout.tsx';
import { problemFinder } from './problem-finder.ts';

/** Edits the definition of a detection. Only what changed is sent. */
export default function DefinitionTab({ detection }: { detection: Detection }) {
  const client = useQueryClient();
  const [edits, setEdits] = useState<Partial<Draft>>({});
  /** The detection as it was when the editing began. Undefined without edits. */
  const [seen, setSeen] = useState<Detection>();
  const base = seen ?? detection;
  const before = draftOf(base);
  const draft = { ...before, ...edits };
  const changed = changedFields(before, draft);
  const { mutate, error, isPending, reset } = useMutation({
    mutationFn: () => changeDetection(base, changesBetween(before, draft)),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ['detections'] });
      setEdits({});
      setSeen(undefined);
      toasts.add({ title: texts.saved });
    },
  });
  return (
    <EditorLayout
      draft={draft}
      storedId={changed.length === 0 ? detection.id : undefined}
      onChange={(change) => {
        setSeen(base);
        setEdits((old) => ({ ...old, ...change }));
      }}
      problemOf={problemFinder(error)}
      footer={
        <>
          <Button kind="primary" disabled={changed.length === 0 || isPending} onClick={() => mutate()}>
            {texts.save}
          </Button>
          {changed.length > 0 && (
            <Button
              kind="quiet"
              onClick={() => {
                setEdits({});
                setSeen(undefined);
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
        </>
      }
    />
  );
}
