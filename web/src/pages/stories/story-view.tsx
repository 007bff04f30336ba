import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { itemStoryQuery, type Story } from '../../api/stories.ts';
import { classes } from '../../lib/text.ts';
import { texts } from '../../texts/stories.ts';
import { SeverityLabel, SeverityMark } from '../../ui/labels/severity.tsx';
import { Section } from '../../ui/section.tsx';
import { ErrorState, Skeleton } from '../../ui/states.tsx';
import { Day } from '../../ui/time.tsx';
import { Value } from '../../ui/value.tsx';

const valuesShown = 3;

/** A story: its level, its sources, its reports in the order of their publication, and why they belong together. */
export function StoryView({ id, listed }: { id: string; listed: Story | undefined }) {
  const { data, error, refetch } = useQuery(itemStoryQuery(id));
  const story = data ?? listed;
  if (error && !story) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!story) return <Skeleton className="m-4 h-28" />;
  const { title, severity, severityItemId, sources, items } = story;
  return (
    <article className="flex flex-col gap-6 px-4 py-5">
      <header className="flex flex-col gap-2">
        <h2 className="text-16 font-strong">{title}</h2>
        <p className="flex flex-wrap items-center gap-x-3 text-12 text-muted">
          <SeverityLabel severity={severity} />
          {texts.reports(story)}
          {items.length > 1 && <span>{texts.severityOf}</span>}
        </p>
      </header>
      <Section title={texts.sources} count={sources.length}>
        <ul className="flex flex-wrap gap-x-4 gap-y-1">
          {sources.map(({ publisher, items: count }) => (
            <li key={publisher}>
              {publisher} <span className="tabular text-12 text-faint">{count}</span>
            </li>
          ))}
        </ul>
      </Section>
      <Section title={texts.timeline} count={items.length}>
        <ol className="-mx-2 flex flex-col">
          {items.map((item) => (
            <li key={item.id}>
              <Link
                to="/feed/$id"
                params={{ id: item.id }}
                className={classes(
                  'flex min-h-8 items-center gap-2.5 rounded-control px-2 py-1 hover:bg-hover',
                  items.length > 1 && item.id === severityItemId && 'bg-selected',
                )}
              >
                <span className="text-12 text-muted">
                  <Day time={item.publishTime ?? item.addedToFeedAt} />
                </span>
                <SeverityMark severity={item.severity} />
                <span className="min-w-0 grow">{item.title}</span>
                <span className="shrink-0 text-12 text-muted">{item.publisher}</span>
              </Link>
            </li>
          ))}
        </ol>
        {story.hasMore && <p className="text-12 text-muted">{texts.isCut}</p>}
      </Section>
      <Reasons story={story} />
    </article>
  );
}

/** Each reason once, with what is shared, however many pairs of reports it joins. */
function Reasons({ story: { reasons } }: { story: Story }) {
  const distinct = new Map(reasons.map((reason) => [`${reason.kind} ${reason.values.join(' ')}`, reason]));
  return (
    <Section title={texts.reasons} count={distinct.size}>
      {distinct.size === 0 && <p className="text-muted">{texts.noReasons}</p>}
      <ul className="flex flex-col gap-1.5">
        {[...distinct].map(([key, { kind, values }]) => (
          <li key={key} className="break-words">
            {texts.reason[kind]}{' '}
            {values.slice(0, valuesShown).map((value, index) => (
              <span key={value}>
                {index > 0 && ', '}
                <code className="font-mono text-12 break-all">
                  <Value value={value} />
                </code>
              </span>
            ))}
            {values.length > valuesShown && ` ${texts.more(values.length - valuesShown)}`}
          </li>
        ))}
      </ul>
    </Section>
  );
}
