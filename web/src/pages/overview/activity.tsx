import { useQuery, useQueryClient } from '@tanstack/react-query';
import { classes } from '../../lib/text.ts';
import { texts as page } from '../../texts/overview.ts';
import { Section } from '../../ui/section.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { LiveLabel } from '../../ui/live/live-label.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { toEventRows } from './event-rows.ts';
import { LinkRow } from './link-row.tsx';
import { eventTypesQuery, type EventTypeEntry } from '../../api/destinations.ts';
import { overviewQuery, recentEventsQuery, type LiveEvent } from '../../api/overview.ts';
import { useDelayed } from '../../ui/live/use-delayed.ts';
import { useEventStream } from '../../ui/live/use-event-stream.ts';

const texts = page.activity;

/** Current and recent activity. */
export function Activity() {
  const { events, labels, isLive } = useLiveEvents();
  return (
    <Section level={2} title={texts.title} actions={<LiveLabel isLive={isLive} />}>
      {events === null ? (
        <div className="flex flex-col gap-3 py-1.5">
          <Skeleton className="h-8" />
          <Skeleton className="h-8" />
        </div>
      ) : events.length === 0 ? (
        <p className="text-muted">{texts.none}</p>
      ) : (
        <ul>
          {toEventRows(events, labels).map(({ key, title, detail, at, severity, isBad, link }) => (
            <LinkRow
              key={key}
              link={link}
              icon={
                <span className="flex w-3 justify-center">
                  {severity ? (
                    <SeverityMark severity={severity} />
                  ) : (
                    <span
                      className={classes('size-1.5 rounded-full', isBad ? 'bg-bad' : 'bg-line-strong')}
                      aria-hidden
                    />
                  )}
                </span>
              }
              title={title}
              detail={detail}
              end={<RelativeTime time={at} />}
            />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** The labels of the types that are stored for clients that listen. */
const streamedLabelsQuery = {
  ...eventTypesQuery,
  select: (all: EventTypeEntry[]): ReadonlyMap<string, string> =>
    new Map(all.flatMap(({ type, label, isStreamed }) => (isStreamed ? [[type, label]] : []))),
};
const noLabels: ReadonlyMap<string, string> = new Map();
const shownMax = 50;
/** Time between two readings of the figures while events arrive. */
const refreshMs = 5000;

/** The latest events, newest first, which grow as they happen. The figures of the overview are read again after them. */
function useLiveEvents(): { events: LiveEvent[] | null; labels: ReadonlyMap<string, string>; isLive: boolean } {
  const client = useQueryClient();
  const { data: labels = noLabels, error: noTypes } = useQuery(streamedLabelsQuery);
  const types = [...labels.keys()].join(',');
  const { data, error } = useQuery({ ...recentEventsQuery(types), enabled: types !== '' });
  const refresh = useDelayed(
    () => void client.invalidateQueries({ queryKey: overviewQuery.queryKey, exact: true }),
    refreshMs,
  );
  const isLive = useEventStream(types, (event) => {
    client.setQueryData(recentEventsQuery(types).queryKey, (events = []) =>
      events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, shownMax),
    );
    refresh();
  });
  return { events: data ?? (error || noTypes ? [] : null), labels, isLive };
}
