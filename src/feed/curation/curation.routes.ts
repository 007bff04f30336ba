import { z } from 'zod';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import type { App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { versionOfOverride } from '../items/override-documents.ts';
import { FeedItemDetail } from '../model/item.schema.ts';
import { type DecideItemDeps, mergeItem, restoreItem, retractItem, splitItem } from './decide-items.ts';
import { putOverride, MergeItem, OverrideItem, RetractItem } from './put-override.ts';

const common = {
  params: z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') }),
  returns: FeedItemDetail,
  versionOf: versionOfOverride,
};

/** Routes for decisions about items. On an item of another organization, a decision applies to the caller's organization alone. */
export function curationRoutes(app: App, deps: DecideItemDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:write' });
  route(
    'POST /api/feed/items/:id/split',
    { operationId: 'splitItem', ...common, summary: 'Take an item out of its group of duplicates permanently' },
    ({ caller, params }) => splitItem(deps, caller, params.id.toLowerCase()),
  );
  route(
    'POST /api/feed/items/:id/merge',
    { operationId: 'mergeItem', ...common, summary: 'Merge an item into the group of another item', body: MergeItem },
    ({ caller, params, body }) => mergeItem(deps, caller, params.id.toLowerCase(), body.into.toLowerCase()),
  );
  route(
    'POST /api/feed/items/:id/retract',
    { operationId: 'retractItem', ...common, summary: 'Retract an item', isBodyOptional: true, body: RetractItem },
    ({ caller, params, body }) => retractItem(deps, caller, params.id.toLowerCase(), body.reason?.trim()),
  );
  route(
    'DELETE /api/feed/items/:id/retract',
    { operationId: 'withdrawRetraction', ...common, summary: 'Withdraw a retraction' },
    ({ caller, params }) => restoreItem(deps, caller, params.id.toLowerCase()),
  );
  route(
    'PUT /api/feed/items/:id/override',
    {
      operationId: 'overrideItem',
      ...common,
      summary: "Override an item for the caller's organization",
      acceptsIfMatch: true,
      body: OverrideItem,
    },
    ({ caller, params, body, ifMatch }) => putOverride(deps, caller, { id: params.id.toLowerCase(), ifMatch }, body),
  );
}
