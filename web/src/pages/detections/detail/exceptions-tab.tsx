import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createException, endException, exceptionsQuery, type Exception } from '../../../api/detection-parts.ts';
import { ApiProblem } from '../../../api/problem.ts';
import { classes, formatNumber } from '../../../lib/text.ts';
import { texts as common } from '../../../texts/common.ts';
import { texts as proof } from '../../../texts/proof.ts';
import { Button } from '../../../ui/button.tsx';
import { Field, TextInput } from '../../../ui/forms/form.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { Section } from '../../../ui/section.tsx';
import { EmptyState, ErrorState } from '../../../ui/states.tsx';
import { TableSkeleton } from '../../../ui/lists/table-skeleton.tsx';
import { ExactTime, RelativeTime } from '../../../ui/time.tsx';
import { toasts } from '../../../ui/overlays/toasts.tsx';

const texts = proof.exceptions;

/** The exceptions of a detection, with their age, reason, and number of hidden hits. */
export default function ExceptionsTab({ id }: { id: string }) {
  const { data, error, refetch } = useQuery(exceptionsQuery(id));
  const [isCreating, setIsCreating] = useState(false);
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <TableSkeleton />;
  if (data.exceptions.length === 0 && !isCreating)
    return (
      <EmptyState title={texts.none} action={<Button onClick={() => setIsCreating(true)}>{texts.create}</Button>}>
        {texts.noneHint}
      </EmptyState>
    );
  return (
    <div className="flex max-w-6xl flex-col gap-6 px-4 py-5">
      {isCreating && <ExceptionForm id={id} onDone={() => setIsCreating(false)} />}
      <Section
        level={2}
        title={texts.title}
        actions={!isCreating && <Button onClick={() => setIsCreating(true)}>{texts.create}</Button>}
      >
        <div className="overflow-x-auto rounded-control border">
          <table className="w-full text-12">
            <thead>
              <tr className="border-b text-left text-faint [&>th]:h-8 [&>th]:px-3 [&>th]:font-normal">
                <th>{texts.columns.what}</th>
                <th>{texts.columns.reason}</th>
                <th className="text-right">{texts.columns.matches}</th>
                <th>{texts.columns.expires}</th>
                <th>{texts.columns.created}</th>
                <th>
                  <span className="sr-only">{texts.end}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.exceptions.map((exception) => (
                <ExceptionRow key={exception.id} detectionId={id} exception={exception} />
              ))}
            </tbody>
          </table>
        </div>
      </Section>
    </div>
  );
}

function ExceptionRow({ detectionId, exception }: { detectionId: string; exception: Exception }) {
  const { id, entity, field, value, list, reason, matches, expiresAt, createdAt, actor, active, warnings } = exception;
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => endException(detectionId, id),
    onSuccess: () => {
      toasts.add({ title: texts.ended });
      return client.invalidateQueries({ queryKey: exceptionsQuery(detectionId).queryKey });
    },
    onError: ({ message }) => toasts.add({ title: texts.failed, description: message, isError: true }),
  });
  const subject = list === null ? (field ? `${field} = ${value}` : entity) : texts.inList(field ?? texts.entity, list);
  const what = subject ?? texts.everything;
  return (
    <tr className={classes('border-b align-top last:border-b-0 [&>td]:px-3 [&>td]:py-1.5', !active && 'text-faint')}>
      <td className="max-w-80 font-mono break-words">{what}</td>
      <td className="max-w-96 break-words">
        {reason}
        {warnings?.map(({ detail }) => (
          <span key={detail} className="block text-medium">
            {detail}
          </span>
        ))}
      </td>
      <td className="tabular text-right">{formatNumber(matches)}</td>
      <td>{!active ? texts.inactive : expiresAt ? <ExactTime time={expiresAt} /> : texts.forever}</td>
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

function ExceptionForm({ id, onDone }: { id: string; onDone: () => void }) {
  const client = useQueryClient();
  const { mutate, error, isPending } = useMutation({
    mutationFn: (form: FormData) => {
      const given = ['entity', 'field', 'value', 'list', 'reason'].flatMap((name) => {
        const text = String(form.get(name) ?? '').trim();
        return text === '' ? [] : [[name, text]];
      });
      const until = String(form.get('expires') ?? '');
      const expires = until === '' ? {} : { expiresAt: new Date(until).toISOString() };
      return createException(id, { reason: '', ...Object.fromEntries(given), ...expires });
    },
    onSuccess: () => {
      toasts.add({ title: texts.created });
      onDone();
      return client.invalidateQueries({ queryKey: exceptionsQuery(id).queryKey });
    },
  });
  const problems = error instanceof ApiProblem ? error.errors : [];
  const problemOf = (name: string): string | undefined =>
    problems.find(({ pointer }) => pointer.endsWith(`/${name}`))?.detail;
  const names = ['entity', 'field', 'value', 'list', 'reason'] as const;
  return (
    <form
      className="flex max-w-3xl flex-col gap-3"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(new FormData(event.currentTarget));
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
              <TextInput {...control} name={name} required={name === 'reason'} autoFocus={name === 'entity'} />
            )}
          </Field>
        ))}
        <Field label={texts.expires} error={problemOf('expiresAt')}>
          {(control) => <TextInput {...control} name="expires" type="datetime-local" />}
        </Field>
      </div>
      {error && (
        <Notice kind="error" title={texts.failed}>
          {error.message}
        </Notice>
      )}
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
