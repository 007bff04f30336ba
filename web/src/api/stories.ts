import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type Story = Schemas['Story'];
export type StoryFilter = { q?: string | undefined; severity?: Story['severity'] | undefined };

/** The stories of the feed, those with the newest item first. */
export const storiesQuery = ({ q, severity }: StoryFilter) =>
  infiniteQueryOptions({
    queryKey: ['feed', 'stories', q, severity],
    queryFn: ({ pageParam: cursor }) =>
      read(
        api.GET('/api/feed/stories', {
          params: { query: { ...(q && { q }), ...(severity && { severity }), ...(cursor && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

/** The story of an item. */
export const itemStoryQuery = (id: string) =>
  queryOptions({
    queryKey: ['feed', 'story', id],
    queryFn: () => read(api.GET('/api/feed/items/{id}/story', { params: { path: { id } } })),
  });
