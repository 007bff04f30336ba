import { infiniteQueryOptions, keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch } from './versions.ts';

export type FeedItem = Schemas['FeedItem'];
export type ItemHighlight = Schemas['ItemHighlight'];
export type ItemDetail = Awaited<ReturnType<typeof getItem>>;
export type Prediction = Schemas['CvePrediction'];
export type ItemStatus = FeedItem['event']['status'];
export type ItemSighting = Schemas['ItemSightings']['sightings'][number];
export type Indicator = Schemas['Indicator'];
export type Relevance = NonNullable<Schemas['TenantOverrides']['relevance']>;
export type ItemOverride = NonNullable<
  paths['/api/feed/items/{id}/override']['put']['requestBody']
>['content']['application/json'];
export type NewReport = NonNullable<paths['/api/feed/items']['post']['requestBody']>['content']['application/json'];
type ItemParameters = NonNullable<paths['/api/feed/items']['get']['parameters']['query']>;
export type FeedFilter = Omit<
  ItemParameters,
  'page' | 'perPage' | 'asOf' | 'highlight' | 'duplicates' | 'updatedSince'
>;
/** Filters that links set and no menu offers. */
export type LinkedFilter = Exclude<
  keyof FeedFilter,
  'q' | 'searchOrder' | 'severity' | 'status' | 'platform' | 'source' | 'relevancyMode' | 'requirement'
>;

const pageSize = 50;

const getItem = (id: string) => read(api.GET('/api/feed/items/{id}', { params: { path: { id } } }));

/** The items of the feed, newest first, or those of a search, best match first, with where they match. Later pages show the snapshot of the first one. */
export const itemsQuery = (filter: FeedFilter) =>
  infiniteQueryOptions({
    queryKey: ['feed', 'items', filter],
    queryFn: ({ pageParam: { page, asOf } }) =>
      read(
        api.GET('/api/feed/items', {
          params: {
            query: {
              ...filter,
              ...(filter.q && { highlight: true }),
              duplicates: 'hide',
              page,
              perPage: pageSize,
              ...(asOf && { asOf }),
            },
          },
        }),
      ),
    initialPageParam: { page: 1, asOf: '' },
    getNextPageParam: ({ hasNext, page, outputs }) =>
      hasNext ? { page: page + 1, asOf: outputs?.asOf ?? '' } : undefined,
    placeholderData: keepPreviousData,
  });

export type ItemReader = Schemas['ItemReading']['readers'][number];
export type ReaderClaim = ItemReader['claims'][number];

/** What both readers say about a version of an item. */
export const itemReadingQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['feed', 'reading', id, version],
    queryFn: () => read(api.GET('/api/feed/items/{id}/reading', { params: { path: { id } } })),
  });

export const itemQuery = (id: string) => queryOptions({ queryKey: ['feed', 'item', id], queryFn: () => getItem(id) });

/** How many items meet a requirement under a version of the profile. */
export const requirementCountQuery = (requirement: string, version: number) =>
  queryOptions({
    queryKey: ['feed', 'requirement', requirement, version],
    queryFn: () =>
      read(api.GET('/api/feed/items', { params: { query: { requirement, duplicates: 'hide', perPage: 1 } } })),
  });

/** The text that a version of an item was made from. A stored version never changes. */
export const itemTextQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['feed', 'text', id, version],
    queryFn: () => read(api.GET('/api/feed/items/{id}/text', { params: { path: { id }, query: { version } } })),
    staleTime: Infinity,
  });

/** The rules that the text of a version of an item prints. */
export const itemRulesQuery = (id: string, version: number) =>
  queryOptions({
    queryKey: ['feed', 'rules', id, version],
    queryFn: () => read(api.GET('/api/feed/items/{id}/rules', { params: { path: { id } } })),
  });

/** The rows of the organization's logs that contain an indicator of the item. */
export const sightingsQuery = (id: string) =>
  queryOptions({
    queryKey: ['feed', 'sightings', id],
    queryFn: () => read(api.GET('/api/feed/items/{id}/sightings', { params: { path: { id } } })),
  });

/** How many items each value of a filter would show beside the other filters. */
export const facetsQuery = ({ searchOrder: _order, ...filter }: FeedFilter) =>
  queryOptions({
    queryKey: ['feed', 'facets', filter],
    queryFn: () => read(api.GET('/api/feed/facets', { params: { query: { ...filter, duplicates: 'hide' } } })),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });

/** Changes the override of an item. `revision` is the one that the user saw, undefined for an item without an override. */
export const putOverride = (
  { id, revision = '0' }: { id: string; revision: string | undefined },
  override: ItemOverride,
) =>
  sendIfMatch({ etag: `"${revision}"` }, (header) =>
    read(api.PUT('/api/feed/items/{id}/override', { params: { path: { id }, header }, body: override })),
  );

/** Creates a private item from a report: its text, or a file that the service reads. */
export const postReport = async (report: NewReport, file: File | undefined) =>
  read(
    api.POST('/api/feed/items', {
      body: file ? { ...report, file: { name: file.name, content: await toBase64(file) } } : report,
    }),
  );

const pieceBytes = 32_768;

async function toBase64(file: File): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const pieces = [];
  for (let from = 0; from < bytes.length; from += pieceBytes)
    pieces.push(String.fromCodePoint(...bytes.subarray(from, from + pieceBytes)));
  return btoa(pieces.join(''));
}

export const splitItem = (id: string) => read(api.POST('/api/feed/items/{id}/split', { params: { path: { id } } }));
