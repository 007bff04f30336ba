import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { addIncidentComment, incidentTimelineQuery } from '../../api/incidents.ts';
import { texts } from '../../texts/incidents.ts';
import { Button } from '../../ui/button.tsx';
import { TextArea } from '../../ui/forms/field.tsx';
import { useChange } from '../../ui/forms/use-change.ts';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { ExactTime } from '../../ui/time.tsx';

/** What happened in an incident, latest first, and a comment on it. */
export function IncidentHistory({ id }: { id: string }) {
  const query = useInfiniteQuery(incidentTimelineQuery(id));
  const entries = query.data?.pages.flatMap((page) => page.entries);
  return (
    <Section title={texts.comments}>
      <CommentForm id={id} />
      {query.error && !entries ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !entries ? (
        <Skeleton className="h-12" />
      ) : (
        <ol aria-label={texts.comments} className="flex flex-col gap-2 pt-2">
          {entries.map(({ id: entryId, at, kind, action, text, actor, keyId, hitId, fields }) => (
            <li key={`${kind} ${entryId}`} className="flex flex-col gap-0.5 border-l-2 pl-3">
              <span className="flex flex-wrap gap-x-3 text-12 text-muted">
                <ExactTime time={at} />
                <span className="wrap-anywhere">{actor ?? keyId}</span>
                {texts.actions[action] !== undefined && <span>{texts.actions[action]}</span>}
              </span>
              {text !== null &&
                (hitId === null ? (
                  <span className="max-w-[72ch] wrap-anywhere whitespace-pre-wrap">{text}</span>
                ) : (
                  <Link to="/hits/$id" params={{ id: hitId }} className="wrap-anywhere hover:underline">
                    {text}
                  </Link>
                ))}
              {fields.map(({ field, before, after }) => (
                <span key={field} className="text-12 wrap-anywhere text-muted">
                  {field}: {show(before)} → {show(after)}
                </span>
              ))}
            </li>
          ))}
        </ol>
      )}
      <LoadMore query={query} />
    </Section>
  );
}

const show = (value: unknown): string => (value === null || value === undefined ? '–' : String(value));

function CommentForm({ id }: { id: string }) {
  const [body, setBody] = useState('');
  const { mutate, isPending } = useChange({
    change: () => addIncidentComment(id, body.trim()),
    refresh: [['incidents', 'one', id]],
    failed: texts.commentFailed,
  });
  return (
    <form
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        mutate(undefined, { onSuccess: () => setBody('') });
      }}
    >
      <TextArea
        label={texts.write}
        rows={2}
        maxLength={8000}
        value={body}
        onChange={({ target }) => setBody(target.value)}
      />
      <Button type="submit" className="self-start" disabled={isPending || body.trim() === ''}>
        {texts.add}
      </Button>
    </form>
  );
}
