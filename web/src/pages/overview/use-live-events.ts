import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { eventTypesQuery, type EventTypeEntry } from '../../api/destinations.ts';
import { overviewQuery, recentEventsQuery, type LiveEvent } from '../../api/overview.ts';
import { basePath } from '../../lib/base-path.ts';

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
export function useLiveEvents(): { events: LiveEvent[] | null; labels: ReadonlyMap<string, string>; isLive: boolean } {
  const client = useQueryClient();
  const { data: labels = noLabels, error: noTypes } = useQuery(streamedLabelsQuery);
  const types = [...labels.keys()].join(',');
  const { data, error } = useQuery({ ...recentEventsQuery(types), enabled: types !== '' });
  const [isLive, setIsLive] = useState(false);
  useEffect(() => {
    if (types === '') return undefined;
    const source = new EventSource(`${basePath}/api/events?types=${types}`);
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
    for (const type of types.split(',')) source.addEventListener(type, receive);
    return () => {
      clearTimeout(refresh);
      source.close();
    };
  }, [client, types]);
  return { events: data ?? (error || noTypes ? [] : null), labels, isLive };
}
