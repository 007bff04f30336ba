import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { overviewQuery, recentEventsQuery, type LiveEvent } from '../../api/overview.ts';
import { basePath } from '../../lib/base-path.ts';
import { texts } from '../../texts/overview.ts';

const types = Object.keys(texts.activity.types);
const shownMax = 50;
/** Time between two readings of the figures while events arrive. */
const refreshMs = 5000;

/** The latest events, newest first, which grow as they happen. The figures of the overview are read again after them. */
export function useLiveEvents(): { events: LiveEvent[] | null; isLive: boolean } {
  const client = useQueryClient();
  const recent = recentEventsQuery(types);
  const { data, error } = useQuery(recent);
  const [isLive, setIsLive] = useState(false);
  useEffect(() => {
    const source = new EventSource(`${basePath}/api/events?types=${types.join(',')}`);
    let refresh: ReturnType<typeof setTimeout> | undefined;
    const receive = ({ data: text }: MessageEvent<string>): void => {
      const event = JSON.parse(text) as LiveEvent;
      client.setQueryData(recentEventsQuery(types).queryKey, (events = []) =>
        events.some(({ id }) => id === event.id) ? events : [event, ...events].slice(0, shownMax),
      );
      refresh ??= setTimeout(() => {
        refresh = undefined;
        void client.invalidateQueries({ queryKey: overviewQuery.queryKey, exact: true });
      }, refreshMs);
    };
    source.addEventListener('open', () => setIsLive(true));
    source.addEventListener('error', () => setIsLive(false));
    for (const type of types) source.addEventListener(type, receive);
    return () => {
      clearTimeout(refresh);
      source.close();
    };
  }, [client]);
  return { events: data ?? (error ? [] : null), isLive };
}
