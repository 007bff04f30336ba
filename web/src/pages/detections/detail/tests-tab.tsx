import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CircleCheck, CircleDashed, CircleX } from 'lucide-react';
import { runTests, saveTests, testsQuery, type TestSet } from '../../../api/detection-parts.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { Button } from '../../../ui/button.tsx';
import { CodeEditor } from '../../../ui/code/code-editor.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const texts = proof.tests;
type Result = Awaited<ReturnType<typeof runTests>>['results'][number];

const example: TestSet['tests'] = [
  { name: 'finds the user', events: [{ time: '2026-01-05T10:00:00Z', user: 'ada' }], expect: ['ada'] },
];

/** The test cases of a detection and how they end. */
export default function TestsTab({ id }: { id: string }) {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(testsQuery(id));
  /** The text that the user edits, and the version of the tests that it is based on. */
  const [{ draft }, setValues, kept] = useDraft(`tests ${id}`, {
    draft: null as { text: string; etag: string } | null,
  });
  const setDraft = (next: { text: string; etag: string }): void => setValues({ draft: next });
  const run = useMutation({
    mutationFn: () => runTests(id),
    onError: ({ message }) => toasts.add({ title: texts.failed, description: message, isError: true }),
  });
  const save = useMutation({
    mutationFn: async ({ text, etag }: { text: string; etag: string }) =>
      saveTests(id, { etag }, JSON.parse(text) as Parameters<typeof saveTests>[2]),
    onSuccess: () => {
      kept.reset();
      run.reset();
      toasts.add({ title: texts.saved });
      return client.invalidateQueries({ queryKey: testsQuery(id).queryKey });
    },
  });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  const edit = (set: Pick<TestSet, 'tests'>): void => {
    save.reset();
    setDraft({ text: JSON.stringify(set, null, 2), etag: data.etag });
  };
  if (draft !== null)
    return (
      <div className="flex max-w-4xl flex-col gap-3 px-4 py-5">
        <CodeEditor
          label={texts.title}
          language="json"
          value={draft.text}
          onChange={(text) => setDraft({ ...draft, text })}
        />
        {save.error && (
          <Notice kind="error" title={save.error instanceof SyntaxError ? texts.notJson : texts.failed}>
            {save.error.message}
          </Notice>
        )}
        <RestoredDraft draft={kept} />
        <div className="flex gap-1.5">
          <Button kind="primary" disabled={save.isPending} onClick={() => save.mutate(draft)}>
            {texts.save}
          </Button>
          <Button kind="quiet" onClick={kept.reset}>
            {common.cancel}
          </Button>
        </div>
      </div>
    );
  if (data.tests.length === 0)
    return (
      <EmptyState title={texts.none} action={<Button onClick={() => edit({ tests: example })}>{texts.add}</Button>}>
        {texts.noneHint}
      </EmptyState>
    );
  return (
    <div className="flex max-w-4xl flex-col gap-4 px-4 py-5">
      <Section
        level={2}
        title={texts.title}
        actions={
          <>
            <Button onClick={() => edit(withoutVersion(data))}>{texts.edit}</Button>
            <Button kind="primary" disabled={run.isPending} onClick={() => run.mutate()}>
              {run.isPending ? texts.running : texts.run}
            </Button>
          </>
        }
      >
        <ul className="rounded-control border">
          {data.tests.map((test) => (
            <TestRow key={test.name} test={test} result={run.data?.results.find(({ name }) => name === test.name)} />
          ))}
        </ul>
        {run.data && !run.data.queryTested && <p className="text-12 text-muted">{texts.notQuery}</p>}
      </Section>
    </div>
  );
}

const withoutVersion = ({ etag: _etag, ...set }: TestSet & { etag: string }): TestSet => set;

function TestRow({ test, result }: { test: TestSet['tests'][number]; result: Result | undefined }) {
  const Icon = !result ? CircleDashed : result.passed ? CircleCheck : CircleX;
  const word = !result ? texts.notRun : result.passed ? texts.passed : texts.notPassed;
  const events = Array.isArray(test.events) ? test.events.length : Object.values(test.events).flat().length;
  return (
    <li className="flex gap-3 border-b px-3 py-2 last:border-b-0">
      <Icon
        className={`mt-0.5 size-4 shrink-0 ${!result ? 'text-faint' : result.passed ? 'text-good' : 'text-bad'}`}
        role="img"
        aria-label={word}
      />
      <div className="min-w-0 grow">
        <p className="break-words">{test.name}</p>
        <p className="text-12 break-words text-muted">
          {texts.events(events)} · {texts.expects(test.expect)}
        </p>
        {result && !result.passed && (
          <p className="mt-1 text-12 break-words text-bad">
            {[
              result.error,
              result.missing.length > 0 && `${texts.missing}: ${result.missing.join(', ')}`,
              result.unexpected.length > 0 && `${texts.unexpected}: ${result.unexpected.join(', ')}`,
            ]
              .filter(Boolean)
              .join(' · ')}
          </p>
        )}
      </div>
      {result && <span className="tabular text-12 text-faint">{result.ms} ms</span>}
    </li>
  );
}
