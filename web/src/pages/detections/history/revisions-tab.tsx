import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { restoreRevision, revisionDiffQuery, revisionsQuery } from '../../../api/detection-parts.ts';
import type { Detection } from '../../../api/detections.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { Button } from '../../../ui/button.tsx';
import { DiffView } from '../../../ui/code/diff-view.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { Section } from '../../../ui/section.tsx';
import { ErrorState } from '../../../ui/states.tsx';
import { VersionList } from './version-list.tsx';

const texts = proof.revisions;

/** The revisions of a detection or response agent: what each changed, from its prompt to its documents, and a way back. */
export default function RevisionsTab({ detection }: { detection: Detection }) {
  const { id } = detection;
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(revisionsQuery(id));
  const [chosen, setChosen] = useState<number>();
  const restore = useMutation({
    mutationFn: (revision: number) => restoreRevision(detection, revision),
    onSuccess: async (_record, revision) => {
      setChosen(undefined);
      toasts.add({ title: texts.restored(revision) });
      await Promise.all(['detections', 'agents'].map((key) => client.invalidateQueries({ queryKey: [key] })));
    },
    onError: ({ message }: Error) =>
      void toasts.add({ title: proof.prompts.failed, description: message, isError: true }),
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const { revisions } = data;
  const shown = revisions.find(({ revision }) => revision === chosen) ?? revisions[0]!;
  return (
    <div className="flex max-w-6xl gap-8 px-4 py-5 max-md:flex-col">
      <VersionList
        label={texts.title}
        versions={revisions.map(({ revision, changed, ...rest }) => ({
          ...rest,
          number: revision,
          title: texts.one(revision),
          note: changed.map(texts.field).join(', '),
        }))}
        shown={shown.revision}
        onChoose={setChosen}
      />
      <div className="flex min-w-0 grow flex-col gap-6">
        <Section
          level={2}
          title={shown.revision === 1 ? texts.one(1) : texts.changes(shown.revision - 1)}
          actions={
            !shown.active &&
            detection.deletedAt === null && (
              <Button disabled={restore.isPending} onClick={() => restore.mutate(shown.revision)}>
                {texts.restore}
              </Button>
            )
          }
        >
          {shown.revision === 1 ? <p className="text-muted">{texts.first}</p> : null}
        </Section>
        {shown.revision > 1 && <Changes id={id} to={shown.revision} />}
      </div>
    </div>
  );
}

/** The fields that a revision changed, each with its difference. */
function Changes({ id, to }: { id: string; to: number }) {
  const { data, error, refetch } = useQuery(revisionDiffQuery(id, to - 1, to));
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  return data?.changes.map(({ field, diff }) => (
    <Section key={field} title={texts.field(field)}>
      <DiffView lines={diff.lines} />
    </Section>
  ));
}
