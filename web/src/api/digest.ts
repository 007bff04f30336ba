import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { api, read, type Schemas } from './client.ts';

export type Digest = Schemas['FeedDigest'];

/** What was relevant in a week: `last`, `current` or an ISO week. */
export const digestQuery = (week: string) =>
  queryOptions({
    queryKey: ['feed', 'digest', week],
    queryFn: () => read(api.GET('/api/feed/digests/{week}', { params: { path: { week } } })),
    placeholderData: keepPreviousData,
  });
