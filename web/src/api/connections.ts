import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Connection = Schemas['Connection'];
export type NewConnection = paths['/api/connections']['post']['requestBody']['content']['application/json'];
export type ConnectionChange = paths['/api/connections/{id}']['put']['requestBody']['content']['application/json'];
export type ConnectionKind =
  paths['/api/connections/kinds']['get']['responses'][200]['content']['application/json']['kinds'][number];

const listMax = 200;

export const connectionsQuery = queryOptions({
  queryKey: ['connections', 'list'],
  queryFn: async () => (await read(api.GET('/api/connections', { params: { query: { limit: listMax } } }))).connections,
});

/** The connected SIEMs, without the embedded log store. */
export const siemsQuery = {
  ...connectionsQuery,
  select: (all: Connection[]): Connection[] => all.filter(({ isDefault }) => !isDefault),
};

export const connectionKindsQuery = queryOptions({
  queryKey: ['connections', 'kinds'],
  queryFn: () => read(api.GET('/api/connections/kinds')),
  staleTime: Infinity,
});

/** The last check of a connection from here. It runs when it is asked for, and is not repeated. */
export const connectionCheckQuery = (id: string) =>
  queryOptions({
    queryKey: ['connections', 'check', id],
    queryFn: () => read(api.POST('/api/connections/{id}/check', { params: { path: { id } }, body: {} })),
    staleTime: Infinity,
    retry: false,
  });

/** Names of the datasets that shipped detections read. */
export const libraryDatasetsQuery = queryOptions({
  queryKey: ['library', 'datasets'],
  queryFn: async () => {
    const { logSources } = await read(api.GET('/api/detections/library'));
    const datasets = logSources.flatMap(({ detections }) => detections.flatMap((one) => one.datasets));
    return [...new Set(datasets.map(({ name }) => name))].toSorted();
  },
  staleTime: Infinity,
});

export const createConnection = (body: NewConnection) => read(api.POST('/api/connections', { body }));
export const changeConnection = (connection: Versioned & { id: string }, body: ConnectionChange) =>
  sendIfMatch(connection, (header) =>
    read(api.PUT('/api/connections/{id}', { params: { path: { id: connection.id }, header }, body })),
  );
export const deleteConnection = (id: string) => read(api.DELETE('/api/connections/{id}', { params: { path: { id } } }));
