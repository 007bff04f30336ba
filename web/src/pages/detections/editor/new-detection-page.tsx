import { useMutation, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { createDetection, type GeneratedDetection } from '../../../api/detections.ts';
import { PageHeader } from '../../../shell/page-header.tsx';
import { texts as list } from '../../../texts/detections.ts';
import { texts } from '../../../texts/editor.ts';
import { Button } from '../../../ui/button.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { definitionOf, draftOfGenerated, emptyDraft, type Draft } from './draft.ts';
import { EditorLayout } from './editor-layout.tsx';
import { IntentForm } from './intent-form.tsx';
import { problemFinder } from './problem-finder.ts';
import { useProposedTools } from './use-proposed-tools.ts';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const route = getRouteApi('/shell/detections/new');

/** Writes a new detection, with a preview of what it finds before it exists. The address may bring the query, or what it is to find. */
export function NewDetectionPage() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const { query = '', intent = '' } = route.useSearch();
  const [{ changes }, setChanges, kept] = useDraft(`new detection ${query}`, { changes: {} as Partial<Draft> });
  const draft = { ...emptyDraft, detectionQuery: query, toolNames: useProposedTools(), ...changes };
  /** The tests of a generated draft, for its query. */
  const [generated, setGenerated] = useState<GeneratedDetection | null>(null);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () =>
      createDetection(
        definitionOf(draft),
        generated?.detectionQuery === draft.detectionQuery ? generated.tests : undefined,
      ),
    onSuccess: ({ id }) => {
      kept.reset();
      toasts.add({ title: texts.created });
      void client.invalidateQueries({ queryKey: ['detections'] });
      void navigate({ to: '/detections/$id', params: { id } });
    },
  });
  return (
    <>
      <PageHeader
        title={texts.newTitle}
        parent={
          <Link to="/detections" className="text-muted hover:text-ink">
            {list.title}
          </Link>
        }
      />
      <div className="min-h-0 grow overflow-y-auto">
        <EditorLayout
          draft={draft}
          onChange={(change) => setChanges((old) => ({ changes: { ...old.changes, ...change } }))}
          problemOf={problemFinder(error)}
          intro={
            <IntentForm
              start={intent}
              siemType={draft.siemType}
              onGenerate={(result) => {
                setGenerated(result);
                setChanges((old) => ({ changes: { ...old.changes, ...draftOfGenerated(result) } }));
              }}
            />
          }
          footer={
            <>
              <Button kind="primary" disabled={isPending} onClick={() => mutate()}>
                {texts.create}
              </Button>
              <RestoredDraft draft={kept} />
              {error && (
                <span className="text-bad" role="alert">
                  {texts.failed} {error.message}
                </span>
              )}
            </>
          }
        />
      </div>
    </>
  );
}
