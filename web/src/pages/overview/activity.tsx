import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { classes } from '../../lib/text.ts';
import { texts as page } from '../../texts/overview.ts';
import { Section } from '../../ui/section.tsx';
import { SeverityMark } from '../../ui/labels/severity.tsx';
import { Skeleton } from '../../ui/states.tsx';
import { RelativeTime } from '../../ui/time.tsx';
import { toEventRows } from './event-rows.ts';
import { LinkRow } from './link-row.tsx';
import { recentEventsQuery, type LiveEvent } from '../../api/overview.ts';
import { streamedLabelsQuery, useLiveEvents } from '../../ui/live.tsx';

const texts = page.activity;

/** Current and recent activity. */
export function Activity() {
  const { events, labels } = useRecentEvents();
  return (
    <Section level={2} title={texts.title}>
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

const noLabels: ReadonlyMap<string, string> = new Map();
const shownMax = 50;

/** The latest events, newest first, which grow as they happen. */
function useRecentEvents(): { events: LiveEvent[] | null; labels: ReadonlyMap<string, string> } {
  const client = useQueryClient();
  const { data: labels = noLabels, error: noTypes } = useQuery(streamedLabelsQuery);
  const types = [...labels.keys()].join(',');
  const { data, error } = useQuery({ ...recentEventsQuery(types), enabled: types !== '' });
  const add = useCallback(
    (event: LiveEvent) =>
      client.setQueryData(recentEventsQuery(types).queryKey, (events = []) =>
        events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, shownMax),
      ),
    [client, types],
  );
  useLiveEvents(add);
  return { events: data ?? (error || noTypes ? [] : null), labels };
}
