import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type Entity = Schemas['FeedEntity'];
export type EntityDetail = Schemas['FeedEntityDetail'];
export type EntityType = Entity['type'];
export type EntityFilter = { type?: EntityType | undefined; q?: string | undefined };

/** Lists by type, then by name, a page at a time. */
export const entitiesQuery = ({ type, q }: EntityFilter) =>
  infiniteQueryOptions({
    queryKey: ['entities', 'list', type, q],
    queryFn: ({ pageParam: cursor }) =>
      read(
        api.GET('/api/feed/entities', {
          params: { query: { limit: 100, ...(type && { type }), ...(q && { q }), ...(cursor && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
  });

export const entityQuery = (type: EntityType, name: string) =>
  queryOptions({
    queryKey: ['entities', 'one', type, name],
    queryFn: () => read(api.GET('/api/feed/entities/{type}/{name}', { params: { path: { type, name } } })),
  });
