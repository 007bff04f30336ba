import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Source = Schemas['Source'];
export type NewSource = NonNullable<paths['/api/feed/sources']['post']['requestBody']>['content']['application/json'];
export type SourceChange = NonNullable<
  paths['/api/feed/sources/{id}']['put']['requestBody']
>['content']['application/json'];
export type SourceTest = Schemas['SourceTest'];
export type TestedSource = NonNullable<
  paths['/api/feed/sources/test']['post']['requestBody']
>['content']['application/json'];

export type CatalogSource = Awaited<ReturnType<typeof getCatalogue>>['sources'][number];

const getCatalogue = () => read(api.GET('/api/feed/catalogue'));

export const sourcesQuery = infiniteQueryOptions({
  queryKey: ['sources', 'list'],
  queryFn: ({ pageParam }) =>
    read(api.GET('/api/feed/sources', { params: { query: { limit: 200, ...(pageParam && { cursor: pageParam }) } } })),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

export type SourceWorth = Schemas['SourceWorthList']['sources'][number];

/** What each source brings that the others do not, by its ID. */
export const sourceWorthQuery = queryOptions({
  queryKey: ['sources', 'worth'],
  queryFn: async () => {
    const worth = new Map<string, SourceWorth>();
    for (let cursor: string | null = ''; cursor !== null;) {
      const query = { limit: 50, ...(cursor && { cursor }) };
      const page: Schemas['SourceWorthList'] = await read(api.GET('/api/feed/sources/worth', { params: { query } }));
      for (const one of page.sources) worth.set(one.id, one);
      cursor = page.nextCursor;
    }
    return worth;
  },
  // Large sources take a second each to compare, and the figures change slowly.
  staleTime: 600_000,
});

/** Well-known public sources. */
export const catalogueQuery = queryOptions({
  queryKey: ['sources', 'catalogue'],
  queryFn: getCatalogue,
  staleTime: Infinity,
});

export const createSource = (source: NewSource) => read(api.POST('/api/feed/sources', { body: source }));

/** Reads the beginning of a source and stores nothing. */
export const testSource = (source: TestedSource) => read(api.POST('/api/feed/sources/test', { body: source }));

export const changeSource = (source: Versioned & { id: string }, change: SourceChange) =>
  sendIfMatch(source, (header) =>
    read(api.PUT('/api/feed/sources/{id}', { params: { path: { id: source.id }, header }, body: change })),
  );

export const deleteSource = (id: string) => read(api.DELETE('/api/feed/sources/{id}', { params: { path: { id } } }));

/** Pulls a source and returns what it brought. */
export const pullSource = (id: string) => read(api.POST('/api/feed/sources/{id}/pull', { params: { path: { id } } }));
