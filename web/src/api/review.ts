import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';

export type ReviewCase = Schemas['ReviewCase'];
export type CaseDetail = Awaited<ReturnType<typeof getCase>>;
export type CaseState = ReviewCase['state'];
type CaseParameters = NonNullable<paths['/api/review-cases']['get']['parameters']['query']>;
export type CaseFilter = Partial<Pick<CaseParameters, 'state' | 'kind' | 'detection' | 'entity'>>;

const pageSize = 100;

const getCase = (id: string) => read(api.GET('/api/review-cases/{id}', { params: { path: { id } } }));

/** Cases that are no hit and that somebody must decide, or decided. */
export const casesQuery = (filter: CaseFilter) =>
  infiniteQueryOptions({
    queryKey: ['review', 'list', filter],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/review-cases', {
          params: { query: { ...filter, limit: pageSize, ...(pageParam && { cursor: pageParam }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const caseQuery = (id: string) => queryOptions({ queryKey: ['review', 'one', id], queryFn: () => getCase(id) });

type Decision = NonNullable<
  paths['/api/review-cases/{id}/decision']['post']['requestBody']
>['content']['application/json'];

export const decideCase = (id: string, body: Decision) =>
  read(api.POST('/api/review-cases/{id}/decision', { params: { path: { id } }, body }));
