import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';

export type Dataset = Schemas['Dataset'];
export type FieldStatistics =
  paths['/api/logs/{dataset}/fields']['get']['responses'][200]['content']['application/json'];
export type LogField = FieldStatistics['fields'][number];
export type SearchResult = paths['/api/logs/search']['post']['responses'][200]['content']['application/json'];
export type LogRow = SearchResult['rows'][number];

/** A time, both ends as ISO text, and a condition on the events of a dataset. */
export type LogScope = { from: string; to: string; where?: string | undefined };

export const datasetsQuery = queryOptions({
  queryKey: ['logs', 'datasets'],
  queryFn: () => read(api.GET('/api/logs')),
});

const toQuery = ({ from, to, where }: LogScope) => ({ from, to, ...(where && { where }) });

export const fieldsQuery = (dataset: string, scope: LogScope) =>
  queryOptions({
    queryKey: ['logs', 'fields', dataset, scope],
    queryFn: ({ signal }) =>
      read(api.GET('/api/logs/{dataset}/fields', { params: { path: { dataset }, query: toQuery(scope) }, signal })),
    staleTime: Infinity,
  });

const buckets = 96;

export const histogramQuery = (dataset: string, scope: LogScope) =>
  queryOptions({
    queryKey: ['logs', 'histogram', dataset, scope],
    queryFn: ({ signal }) =>
      read(
        api.GET('/api/logs/{dataset}/histogram', {
          params: { path: { dataset }, query: { ...toQuery(scope), buckets } },
          signal,
        }),
      ),
    staleTime: Infinity,
  });

export const searchRowsMax = 1000;

export const searchQuery = (query: string, { from, to }: Pick<LogScope, 'from' | 'to'>) =>
  queryOptions({
    queryKey: ['logs', 'search', query, from, to],
    queryFn: ({ signal }) =>
      read(api.POST('/api/logs/search', { body: { query, from, to, limit: searchRowsMax }, signal })),
    staleTime: Infinity,
    retry: false,
  });
