import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import { FeedItemDetail } from '../model/item.schema.ts';
import { postItem, type PostItemDeps } from './post-item.ts';
import { PostItem } from './post-item.schema.ts';

// JSON may escape one byte of the text as six characters.
const bodyBytesMax = 4 * 1024 * 1024;

export function postItemRoutes(app: App, deps: PostItemDeps & { diskGuard: DiskGuard }): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:write' });
  const summary = 'Create a private item from the text of a report';
  route(
    'POST /api/feed/items',
    { operationId: 'createItem', summary, bodyBytesMax, body: PostItem, returns: FeedItemDetail },
    async ({ caller, body }) => {
      await deps.diskGuard.requireSpace();
      return postItem(deps, caller, body);
    },
  );
}
