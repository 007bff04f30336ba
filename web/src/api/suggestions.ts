import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch } from './versions.ts';

export type Suggestion = Schemas['Detection'];
export type DismissReason = NonNullable<Suggestion['dismissReason']>;
export type SuggestionChange = NonNullable<
  paths['/api/detections/{id}/accept']['post']['requestBody']
>['content']['application/json'];

const pageSize = 100;

export const suggestionsQuery = infiniteQueryOptions({
  queryKey: ['suggestions', 'open'],
  queryFn: ({ pageParam }) =>
    read(
      api.GET('/api/detections/suggestions', {
        params: { query: { limit: pageSize, ...(pageParam && { cursor: pageParam }) } },
      }),
    ),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
});

export const dismissedQuery = queryOptions({
  queryKey: ['suggestions', 'dismissed'],
  queryFn: () => read(api.GET('/api/detections/suggestions/dismissed')),
});

export const acceptSuggestion = (seen: Suggestion, body: SuggestionChange) =>
  sendIfMatch(seen, (header) =>
    read(api.POST('/api/detections/{id}/accept', { params: { path: { id: seen.id }, header }, body })),
  );
export const dismissSuggestion = (seen: Suggestion, reason: DismissReason, note: string) =>
  sendIfMatch(seen, (header) =>
    read(
      api.POST('/api/detections/{id}/dismiss', {
        params: { path: { id: seen.id }, header },
        body: { reason, ...(note !== '' && { note }) },
      }),
    ),
  );
export const restoreSuggestion = (id: string) =>
  read(api.POST('/api/detections/{id}/restore', { params: { path: { id } } }));

const dayMs = 86_400_000;
export const backtestDays = 30;

/** The hits that the stored version of a suggestion would have raised lately. It runs on demand. */
export const backtestQuery = (id: string, updatedAt: string) =>
  queryOptions({
    queryKey: ['suggestions', 'backtest', id, updatedAt],
    queryFn: () => {
      const [from, to] = [new Date(Date.now() - backtestDays * dayMs), new Date()].map((at) => at.toISOString());
      return read(
        api.POST('/api/detections/{id}/backtest', { params: { path: { id } }, body: { from: from!, to: to! } }),
      );
    },
    staleTime: Infinity,
    retry: false,
  });

/** A feed item with the text that its passages refer to. */
export const reportQuery = (id: string) =>
  queryOptions({
    queryKey: ['suggestions', 'report', id],
    queryFn: async () => {
      const params = { params: { path: { id } } };
      const [item, text] = await Promise.all([
        read(api.GET('/api/feed/items/{id}', params)),
        read(api.GET('/api/feed/items/{id}/text', params)).then(
          (found) => found.text,
          // An item without a stored text still has its passages.
          () => '',
        ),
      ]);
      return { item, text };
    },
    staleTime: 60_000,
  });
