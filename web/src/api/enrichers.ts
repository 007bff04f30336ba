import { queryOptions } from '@tanstack/react-query';
import type { paths } from './schema.d.ts';
import { api, read, type Schemas } from './client.ts';

export type Enricher = Schemas['Enricher'];
export type EnricherKind = Schemas['EnricherKind'];
export type EnricherInput = NonNullable<
  paths['/api/enrichers/{name}']['put']['requestBody']
>['content']['application/json'];

export const enrichersQuery = queryOptions({
  queryKey: ['enrichers'],
  queryFn: () => read(api.GET('/api/enrichers')),
});

export const saveEnricher = (name: string, body: EnricherInput): Promise<Enricher> =>
  read(api.PUT('/api/enrichers/{name}', { params: { path: { name } }, body }));

export const deleteEnricher = (name: string): Promise<Enricher> =>
  read(api.DELETE('/api/enrichers/{name}', { params: { path: { name } } }));

/** How many values are looked up together. */
export const enrichmentsMax = 20;

/** What enrichers know of values. */
export const enrichmentsQuery = (values: readonly string[]) =>
  queryOptions({
    queryKey: ['enrichments', values],
    queryFn: async () => (await read(api.POST('/api/enrichments', { body: { values: [...values] } }))).enrichments,
  });
