import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Profile = Schemas['FeedProfile'];
export type ProfileInput = NonNullable<paths['/api/feed/profile']['put']['requestBody']>['content']['application/json'];

const rebuildingMs = 2000;

/** The relevance profile of the organization. Asked again while items are judged by a changed profile. */
export const profileQuery = queryOptions({
  queryKey: ['relevance', 'profile'],
  queryFn: () => read(api.GET('/api/feed/profile')),
  refetchInterval: ({ state }) => (state.data?.rebuilding ? rebuildingMs : false),
});

export const putProfile = (seen: Versioned, body: ProfileInput) =>
  sendIfMatch(seen, (header) => read(api.PUT('/api/feed/profile', { params: { header }, body })));

/** Returns whether a profile has an entry. One whose lists are all empty counts as missing. */
export const hasProfile = ({ products, platforms, sectors, regions, keywords, requirements }: Profile): boolean =>
  [products, platforms, sectors, regions, keywords, requirements].some((list) => list.length > 0);
