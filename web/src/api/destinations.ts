import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Destination = Schemas['Destination'];
export type Delivery = Schemas['Delivery'];
export type NewDestination = paths['/api/destinations']['post']['requestBody']['content']['application/json'];
export type EventType = Destination['eventTypes'][number];
export type EventTypeEntry =
  paths['/api/event-types']['get']['responses']['200']['content']['application/json']['eventTypes'][number];

/** The kinds and the event types do not change while the page is open. */
export const destinationKindsQuery = queryOptions({
  queryKey: ['destination-kinds'],
  queryFn: async () => (await read(api.GET('/api/destination-kinds'))).kinds,
  staleTime: Infinity,
});

export const eventTypesQuery = queryOptions({
  queryKey: ['event-types'],
  queryFn: async () => (await read(api.GET('/api/event-types'))).eventTypes,
  staleTime: Infinity,
});

const listMax = 200;
const pageSize = 50;

export const destinationsQuery = queryOptions({
  queryKey: ['destinations', 'list'],
  queryFn: () => read(api.GET('/api/destinations', { params: { query: { limit: listMax } } })),
});

export const destinationQuery = (id: string) =>
  queryOptions({
    queryKey: ['destinations', 'one', id],
    queryFn: () => read(api.GET('/api/destinations/{id}', { params: { path: { id } } })),
  });

export const deliveriesQuery = (id: string, state: Delivery['state'] | undefined) =>
  infiniteQueryOptions({
    queryKey: ['destinations', 'deliveries', id, state],
    queryFn: ({ pageParam }) =>
      read(
        api.GET('/api/destinations/{id}/deliveries', {
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

export const createDestination = (body: NewDestination) => read(api.POST('/api/destinations', { body }));
type DestinationChange = paths['/api/destinations/{id}']['put']['requestBody']['content']['application/json'];
export const changeDestination = (destination: Versioned & { id: string }, body: DestinationChange) =>
  sendIfMatch(destination, (header) =>
    read(api.PUT('/api/destinations/{id}', { params: { path: { id: destination.id }, header }, body })),
  );
export const deleteDestination = (id: string) =>
  read(api.DELETE('/api/destinations/{id}', { params: { path: { id } } }));
export const testDestination = (id: string) =>
  read(api.POST('/api/destinations/{id}/test', { params: { path: { id } } }));
export const rotateDestination = (id: string) =>
  read(api.POST('/api/destinations/{id}/rotate', { params: { path: { id } }, body: {} }));
export const redeliver = (id: string, deliveryId: string) =>
  read(api.POST('/api/destinations/{id}/deliveries/{deliveryId}/redeliver', { params: { path: { id, deliveryId } } }));
