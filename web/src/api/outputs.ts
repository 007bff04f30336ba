import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Output = Schemas['Output'];
export type Delivery = Schemas['Delivery'];
export type NewOutput = paths['/api/outputs']['post']['requestBody']['content']['application/json'];
export type EventType = Output['eventTypes'][number];

const listMax = 200;
const pageSize = 50;

export const outputsQuery = queryOptions({
  queryKey: ['outputs', 'list'],
  queryFn: () => read(api.GET('/api/outputs', { params: { query: { limit: listMax } } })),
});

export const outputQuery = (id: string) =>
  queryOptions({
    queryKey: ['outputs', 'one', id],
    queryFn: () => read(api.GET('/api/outputs/{id}', { params: { path: { id } } })),
  });

export const deliveriesQuery = (id: string, state: Delivery['state'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['outputs', 'deliveries', id, state],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/outputs/{id}/deliveries', {
          params: {
            path: { id },
            query: { limit: pageSize, ...(state && { state }), ...(pageParam && { cursor: pageParam }) },
          },
        }),
      ),
    initialPageParam: '',
    staleTime: 0,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });

export const createOutput = (body: NewOutput) => read(api.POST('/api/outputs', { body }));
export const setOutputEnabled = (output: Versioned & { id: string }, enabled: boolean) =>
  sendIfMatch(output, (header) =>
    read(api.PUT('/api/outputs/{id}', { params: { path: { id: output.id }, header }, body: { enabled } })),
  );
export const deleteOutput = (id: string) => read(api.DELETE('/api/outputs/{id}', { params: { path: { id } } }));
export const testOutput = (id: string) => read(api.POST('/api/outputs/{id}/test', { params: { path: { id } } }));
export const rotateOutput = (id: string) =>
  read(api.POST('/api/outputs/{id}/rotate', { params: { path: { id } }, body: {} }));
export const redeliver = (id: string, deliveryId: string) =>
  read(api.POST('/api/outputs/{id}/deliveries/{deliveryId}/redeliver', { params: { path: { id, deliveryId } } }));
