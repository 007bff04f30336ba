import { useQuery, useQueryClient } from '@tanstack/react-query';
import { eventTypesQuery, type EventTypeEntry } from '../../api/destinations.ts';
import { overviewQuery, recentEventsQuery, type LiveEvent } from '../../api/overview.ts';
import { useDelayed } from '../../ui/live/use-delayed.ts';
import { useEventStream } from '../../ui/live/use-event-stream.ts';

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
