import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { createException, endException, exceptionsQuery, type Exception } from '../../../api/detection-parts.ts';
import type { Detection } from '../../../api/detections.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { classes, countOf } from '../../../lib/text.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { Button } from '../../../ui/button.tsx';
import { Field, TextInput } from '../../../ui/forms/form.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { fromLocal } from '../../../lib/time.ts';
import { ExactTime, RelativeTime } from '../../../ui/time.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';
import { ExceptionRule } from '../../../ui/tuning/exception-rule.tsx';
import { ThresholdTuning } from './threshold-tuning.tsx';
import { RestoredDraft, useDraft } from '../../../ui/forms/use-draft.tsx';

const HideSimilarDialog = lazy(() => import('../../../ui/tuning/hide-similar-dialog.tsx'));
const texts = proof.exceptions;

/** What makes a detection quieter: proposals of exceptions and thresholds, and the exceptions with what each hid. */
export default function ExceptionsTab({ detection }: { detection: Detection }) {
  const { id } = detection;
  const { data, error, refetch } = useQuery(exceptionsQuery(id));
  const [isCreating, setIsCreating] = useState(false);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  return (
    <div className="flex max-w-6xl flex-col gap-6 px-4 py-5">
      <Section level={2} title={proof.tuning.title}>
        <div className="flex flex-col gap-3 rounded-control border p-3">
          <ExceptionTuning detectionId={id} />
          <ThresholdTuning detection={detection} />
        </div>
      </Section>
      {isCreating && <ExceptionForm id={id} onDone={() => setIsCreating(false)} />}
      {data.exceptions.length > 0 ? (
        <Section
          level={2}
          title={texts.title}
          actions={!isCreating && <Button onClick={() => setIsCreating(true)}>{texts.create}</Button>}
        >
          <Ledger detectionId={id} exceptions={data.exceptions} />
        </Section>
      ) : (
        !isCreating && (
          <EmptyState title={texts.none} action={<Button onClick={() => setIsCreating(true)}>{texts.create}</Button>}>
            {texts.noneHint}
          </EmptyState>
        )
      )}
    </div>
  );
}

function ExceptionTuning({ detectionId }: { detectionId: string }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <div className="flex flex-wrap items-center gap-3">
      <p className="max-w-[72ch] grow text-muted">{proof.tuning.exceptions}</p>
      <Button className="md:ml-auto" onClick={() => setIsOpen(true)}>
        {proof.tuning.findExceptions}
      </Button>
      <Suspense>{isOpen && <HideSimilarDialog detectionId={detectionId} onClose={() => setIsOpen(false)} />}</Suspense>
    </div>
  );
}

function Ledger({ detectionId, exceptions }: { detectionId: string; exceptions: readonly Exception[] }) {
  return (
    <div className="overflow-x-auto rounded-control border">
      <table className="w-full text-12">
        <thead>
          <tr className="border-b text-left text-faint [&>th]:h-8 [&>th]:px-3 [&>th]:font-normal">
            <th>{texts.columns.what}</th>
            <th>{texts.columns.reason}</th>
            <th>{texts.columns.matches}</th>
            <th>{texts.columns.expires}</th>
            <th>{texts.columns.created}</th>
            <th>
              <span className="sr-only">{texts.end}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {exceptions.map((exception) => (
            <ExceptionRow key={exception.id} detectionId={detectionId} exception={exception} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ExceptionRow({ detectionId, exception }: { detectionId: string; exception: Exception }) {
  const { id, reason, owner, expiresAt, expiresSoon, createdAt, actor, active, warnings } = exception;
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => endException(detectionId, id),
    onSuccess: () => {
      toasts.add({ title: texts.ended });
      return client.invalidateQueries({ queryKey: exceptionsQuery(detectionId).queryKey });
    },
    onError: ({ message }) => toasts.add({ title: texts.failed, description: message, isError: true }),
  });
  return (
    <tr className={classes('border-b align-top last:border-b-0 [&>td]:px-3 [&>td]:py-1.5', !active && 'text-faint')}>
      <td className="min-w-48 max-w-80">
        <ExceptionRule rule={exception} />
      </td>
      <td className="min-w-40 max-w-96 break-words">
        {reason}
        {owner !== null && <span className="block text-muted">{texts.owner(owner)}</span>}
        {warnings?.map(({ detail }) => (
          <span key={detail} className="block text-medium">
            {detail}
          </span>
        ))}
      </td>
      <td className="min-w-40">
        <Hidden exception={exception} />
      </td>
      <td>
        {!active ? texts.inactive : expiresAt ? <ExactTime time={expiresAt} /> : texts.forever}
        {expiresSoon && <span className="block text-medium">{texts.endsSoon}</span>}
      </td>
      <td>
        <RelativeTime time={createdAt} />
        {actor !== null && <span className="block text-muted">{common.by(actor)}</span>}
      </td>
      <td className="text-right">
        {active && (
          <button
            type="button"
            disabled={isPending}
            onClick={() => mutate()}
            className="text-accent underline-offset-2 hover:underline"
          >
            {texts.end}
          </button>
        )}
      </td>
    </tr>
  );
}

/** What an exception hid since it exists, with the latest examples. */
function Hidden({ exception: { matches, mutedRows, lastMatchedAt, examples } }: { exception: Exception }) {
  return (
    <>
      <span className="tabular">
        {countOf(matches, 'finding')}
        {matches > 0 && <span className="text-muted"> ({countOf(mutedRows, 'row')})</span>}
      </span>
      {lastMatchedAt !== null && (
        <span className="block text-muted">
          {texts.last} <RelativeTime time={lastMatchedAt} />
        </span>
      )}
      {examples.length > 0 && (
        <details>
          <summary className="cursor-pointer text-accent">{texts.examples}</summary>
          <ul>
            {examples.map(({ runId, entity, windowTo }) => (
              <li key={`${runId} ${entity} ${windowTo}`}>
                <Link to="/runs/$id" params={{ id: runId }} className="break-all hover:underline">
                  {entity}
                </Link>{' '}
                <span className="text-muted">
                  <RelativeTime time={windowTo} />
                </span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

const names = ['entity', 'field', 'value', 'list', 'reason'] as const;
const emptyException = { entity: '', field: '', value: '', list: '', reason: '', expires: '' };

function ExceptionForm({ id, onDone }: { id: string; onDone: () => void }) {
  const client = useQueryClient();
  const [values, change, draft] = useDraft(`exception of ${id}`, emptyException);
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => {
      const given = names.flatMap((name) => (values[name].trim() === '' ? [] : [[name, values[name].trim()]]));
      const expires = values.expires === '' ? {} : { expiresAt: fromLocal(values.expires) };
      return createException(id, { reason: '', ...Object.fromEntries(given), ...expires });
    },
    onSuccess: () => {
      draft.reset();
      toasts.add({ title: texts.created });
      onDone();
      return client.invalidateQueries({ queryKey: exceptionsQuery(id).queryKey });
    },
  });
  const problems = error instanceof ApiProblem ? error.errors : [];
  const problemOf = (name: string): string | undefined =>
    problems.find(({ pointer }) => pointer.endsWith(`/${name}`))?.detail;
  return (
    <form
      className="flex max-w-3xl flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        mutate();
      }}
    >
      <div className="grid gap-3 md:grid-cols-2">
        {names.map((name) => (
          <Field
            key={name}
            label={texts[name]}
            hint={name === 'value' ? texts.valueHint : name === 'list' ? texts.listHint : undefined}
            error={problemOf(name)}
          >
            {(control) => (
              <TextInput
                {...control}
                required={name === 'reason'}
                autoFocus={name === 'entity'}
                value={values[name]}
                onChange={({ target }) => change({ [name]: target.value })}
              />
            )}
          </Field>
        ))}
        <Field label={texts.expires} error={problemOf('expiresAt')}>
          {(control) => (
            <TextInput
              {...control}
              type="datetime-local"
              value={values.expires}
              onChange={({ target }) => change({ expires: target.value })}
            />
          )}
        </Field>
      </div>
      {error && (
        <Notice kind="error" title={texts.failed}>
          {error.message}
        </Notice>
      )}
      <RestoredDraft draft={draft} />
      <div className="flex gap-1.5">
        <Button kind="primary" type="submit" disabled={isPending}>
          {texts.create}
        </Button>
        <Button kind="quiet" onClick={onDone}>
          {common.cancel}
        </Button>
      </div>
    </form>
  );
}
