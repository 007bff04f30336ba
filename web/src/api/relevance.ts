import { queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';
import type { paths } from './schema.d.ts';
import { sendIfMatch, type Versioned } from './versions.ts';

export type Profile = Schemas['FeedProfile'];
export type ProfileInput = NonNullable<paths['/api/feed/profile']['put']['requestBody']>['content']['application/json'];

/** The relevance profile of the organization. */
export const profileQuery = queryOptions({
  queryKey: ['relevance', 'profile'],
  queryFn: () => read(api.GET('/api/feed/profile')),
});

export const putProfile = (seen: Versioned, body: ProfileInput) =>
  sendIfMatch(seen, (header) => read(api.PUT('/api/feed/profile', { params: { header }, body })));

/** Returns whether a profile has an entry. One whose lists are all empty counts as missing. */
export const hasProfile = ({ products, platforms, sectors, regions, keywords, requirements }: Profile): boolean =>
  [products, platforms, sectors, regions, keywords, requirements].some((list) => list.length > 0);
