import { z } from 'zod';
import { FeedItemDetail } from '../model/item.schema.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { type DecideItemDeps, mergeItem, restoreItem, retractItem, splitItem } from './decide-items.ts';
import { putOverride } from './put-override.ts';
import { MergeItem, OverrideItem, RetractItem } from './curation.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });
const common = { tags: ['feed'], params, response: { 200: FeedItemDetail } };
const config = { scope: 'feed:write' as const };

/** Routes for decisions about items. On an item of another organization, a decision applies to the caller's organization alone. */
export function curationRoutes(app: App, deps: DecideItemDeps): void {
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/split',
    config: { ...config, ignoresBody: true },
    schema: { ...common, summary: 'Take an item out of its group of duplicates permanently' },
    handler: (request) => splitItem(deps, requireCaller(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/merge',
    config,
    schema: { ...common, summary: 'Merge an item into the group of another item', body: MergeItem },
    handler: (request) =>
      mergeItem(deps, requireCaller(request), request.params.id.toLowerCase(), request.body.into.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/retract',
    config: { ...config, isBodyOptional: true },
    schema: { ...common, summary: 'Retract an item', body: RetractItem },
    handler: (request) =>
      retractItem(deps, requireCaller(request), request.params.id.toLowerCase(), request.body.reason?.trim()),
  });
  app.route({
    method: 'DELETE',
    url: '/api/feed/items/:id/retract',
    config: { ...config, ignoresBody: true },
    schema: { ...common, summary: 'Take a retraction back' },
    handler: (request) => restoreItem(deps, requireCaller(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/items/:id/override',
    config,
    schema: { ...common, summary: "Override an item for the caller's organization", body: OverrideItem },
    handler: (request) => putOverride(deps, requireCaller(request), request.params.id.toLowerCase(), request.body),
  });
}
