import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';

export type Source = Schemas['Source'];
export type NewSource = NonNullable<paths['/api/feed/sources']['post']['requestBody']>['content']['application/json'];

const getCatalogue = () => read(api.GET('/api/feed/catalogue'));

export const sourcesQuery = infiniteQueryOptions({
  queryKey: ['sources', 'list'],
  queryFn: ({ pageParam }) =>
    read(
      api.GET('/api/feed/sources', { params: { query: { limit: '200', ...(pageParam && { cursor: pageParam }) } } }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

/** Well-known public sources. */
export const catalogueQuery = queryOptions({
  queryKey: ['sources', 'catalogue'],
  queryFn: getCatalogue,
  staleTime: Infinity,
});

export const createSource = (source: NewSource) => read(api.POST('/api/feed/sources', { body: source }));

export const enableSource = (id: string, enabled: boolean) =>
  read(api.PUT('/api/feed/sources/{id}', { params: { path: { id } }, body: { enabled } }));

export const deleteSource = (id: string) => read(api.DELETE('/api/feed/sources/{id}', { params: { path: { id } } }));

/** Pulls a source and returns what it brought. */
export const pullSource = (id: string) => read(api.POST('/api/feed/sources/{id}/pull', { params: { path: { id } } }));
