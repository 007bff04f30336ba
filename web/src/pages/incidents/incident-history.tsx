import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { addIncidentComment, incidentTimelineQuery, type FoundRow as Row } from '../../api/incidents.ts';
import { texts } from '../../texts/incidents.ts';
import { CommentForm, CommentText } from '../../ui/comments/comment.tsx';
import { LoadMore } from '../../ui/lists/load-more.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { ExactTime } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';

/** What happened in an incident, latest first, and a comment on it. */
export function IncidentHistory({ id }: { id: string }) {
  const query = useInfiniteQuery(incidentTimelineQuery(id));
  const entries = query.data?.pages.flatMap((page) => page.entries);
  return (
    <Section title={texts.comments}>
      <CommentForm
        hasMentions
        subject={`incident ${id}`}
        add={(body) => addIncidentComment(id, body)}
        refresh={[['incidents', 'one', id]]}
      />
      {query.error && !entries ? (
        <ErrorState error={query.error} onRetry={() => void query.refetch()} />
      ) : !entries ? (
        <Skeleton className="h-12" />
      ) : (
        <ol aria-label={texts.comments} className="flex flex-col gap-2 pt-2">
          {entries.map(({ id: entryId, at, kind, action, text, actor, keyId, hitId, fields, finding }) => (
            <li key={`${kind} ${entryId}`} className="flex flex-col gap-0.5 border-l-2 pl-3">
              <span className="flex flex-wrap gap-x-3 text-12 text-muted">
                <ExactTime time={at} />
                <span className="wrap-anywhere">{actor ?? keyId}</span>
                {texts.actions[action] !== undefined && <span>{texts.actions[action]}</span>}
              </span>
              {kind === 'comment' && <CommentText text={text ?? ''} isByAgent={actor === null && keyId === null} />}
              {hitId !== null && (text !== null || kind === 'comment') && (
                <Link to="/hits/$id" params={{ id: hitId }} className="wrap-anywhere hover:underline">
                  {kind === 'comment' ? texts.openHit : text}
                </Link>
              )}
              {finding && <FoundRow finding={finding} at={at} />}
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

/** A row that a hunt found, with its cells. */
function FoundRow({ finding: { huntId, hunt, dataset, entity, rowId, fields }, at }: { finding: Row; at: string }) {
  return (
    <details>
      <summary className="cursor-pointer wrap-anywhere">
        <span className="font-mono">{entity ?? rowId}</span> <span className="text-12 text-muted">{dataset}</span>
      </summary>
      <Link to="/hunts" search={{ hunt: huntId }} className="text-12 text-muted wrap-anywhere hover:underline">
        {texts.byHunt(hunt)}
      </Link>
      <ul className="text-12">
        {Object.entries(fields).map(([name, value]) => (
          <li key={name} className="wrap-anywhere">
            <span className="text-muted">{name}</span>{' '}
            <span className="font-mono">
              <Value value={value} at={at} />
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}

const show = (value: unknown): string => (value === null || value === undefined ? '–' : String(value));
