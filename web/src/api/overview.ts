import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type Overview = Schemas['Overview'];
export type LiveEvent = Schemas['Event'];

export const overviewQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => read(api.GET('/api/overview')),
  refetchInterval: 60_000,
});

/** The latest events that the service kept. Those that follow come from the stream of the same address. */
export const recentEventsQuery = (types: string) =>
  queryOptions({
    queryKey: ['overview', 'events'],
    queryFn: async () => (await read(api.GET('/api/events', { params: { query: { types, limit: 50 } } }))).events,
    staleTime: Infinity,
    gcTime: 0,
  });
