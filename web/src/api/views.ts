import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import { sendIfMatch } from './versions.ts';

export type View = Schemas['View'];

/** The views of a page that the organization saved. Empty for users who may not read them. */
export const viewsQuery = (page: string) =>
  queryOptions({
    queryKey: ['views', page],
    queryFn: () => read(api.GET('/api/views', { params: { query: { page, limit: 200 } } })).then(({ views }) => views),
    staleTime: 60_000,
    retry: false,
  });

type NewView = Pick<View, 'name' | 'page' | 'query'>;

/** Saves a view. Replaces `existing`, the view of the page that has the name already. */
export const saveView = (view: NewView, existing: View | undefined) =>
  existing
    ? sendIfMatch(existing, (header) =>
        read(api.PUT('/api/views/{id}', { params: { path: { id: existing.id }, header }, body: view })),
      )
    : read(api.POST('/api/views', { body: view }));

export const deleteView = (id: string) => read(api.DELETE('/api/views/{id}', { params: { path: { id } } }));
