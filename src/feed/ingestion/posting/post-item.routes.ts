import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { FeedItemDetail } from '../../model/item.schema.ts';
import { postItem, type PostItemDeps } from './post-item.ts';
import { PostItem } from './post-item.schema.ts';

// JSON may escape one byte of the text as six characters.
const bodyMaxBytes = 4 * 1024 * 1024;

export function postItemRoutes(app: App, deps: PostItemDeps): void {
  app.route({
    method: 'POST',
    url: '/api/feed/items',
    config: { scope: 'feed:write' },
    bodyLimit: bodyMaxBytes,
    schema: {
      tags: ['feed'],
      summary: 'Create a private item from the text of a report',
      body: PostItem,
      response: { 200: FeedItemDetail },
    },
    handler: (request) => postItem(deps, requireCaller(request), request.body),
  });
}
