import { queryOptions } from '@tanstack/react-query';
import { api, read } from './client.ts';
import type { paths } from './schema.d.ts';

export type Model = paths['/api/models']['get']['responses'][200]['content']['application/json']['models'][number];

export const modelsQuery = queryOptions({ queryKey: ['models'], queryFn: () => read(api.GET('/api/models')) });

export type ModelCheck = NonNullable<Model['check']>;

/** Calls the model a few times, which costs money. */
export const checkModel = (alias: string) =>
  read(api.POST('/api/models/{alias}/check', { params: { path: { alias } } }));

/** The use of budgets by each model alias this month. */
export const budgetsQuery = queryOptions({
  queryKey: ['overview'],
  queryFn: () => read(api.GET('/api/overview')),
});
