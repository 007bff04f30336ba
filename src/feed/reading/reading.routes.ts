import { z } from 'zod';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { contentVersion } from '../../platform/http/etag.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import {
  FeedReader,
  ItemReading,
  getFeedReader,
  getReading,
  type GetReadingDeps,
  putFeedReader,
  type PutReaderDeps,
} from './readings.ts';

const ItemPath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function readingRoutes(app: App, deps: GetReadingDeps & PutReaderDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/feed/items/:id/reading',
    {
      operationId: 'getFeedItemReading',
      summary: 'Get what the lexicon and a model read in an item, with the passages',
      params: ItemPath,
      returns: ItemReading,
    },
    ({ caller, params }) => getReading(deps, caller, params.id.toLowerCase()),
  );
  route(
    'GET /api/feed/reader',
    {
      operationId: 'getFeedReader',
      summary: 'Get the model that reads the private items',
      returns: FeedReader,
      versionOf: contentVersion,
    },
    ({ caller }) => getFeedReader(deps, caller),
  );
  route(
    'PUT /api/feed/reader',
    {
      operationId: 'setFeedReader',
      summary: 'Set the model that reads the private items',
      description: 'It reads the private items of the last seven days, and new ones. Their texts are sent to it.',
      scope: 'feed:write',
      acceptsIfMatch: true,
      body: FeedReader,
      returns: FeedReader,
      versionOf: contentVersion,
    },
    ({ caller, body, ifMatch }) => putFeedReader(deps, caller, body, ifMatch),
  );
}
