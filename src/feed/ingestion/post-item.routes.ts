import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import type { DiskGuard } from '../../platform/lib/storage/disk-guard.ts';
import { postItem, type PostItemDeps, PostedItem, PostItem, postItemBodyMax } from './post-item.ts';

export function postItemRoutes(app: App, deps: PostItemDeps & { diskGuard: DiskGuard }): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:write' });
  const summary = 'Create a private item from a report';
  route(
    'POST /api/feed/items',
    { operationId: 'createItem', summary, bodyBytesMax: postItemBodyMax, body: PostItem, returns: PostedItem },
    async ({ caller, body }) => {
      await deps.diskGuard.requireSpace();
      return postItem(deps, caller, body);
    },
  );
}
