import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { FeedItemDetail } from '../model/item.schema.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { mergeItem, restoreItem, retractItem, splitItem } from './decide-items.ts';
import { putOverride } from './put-override.ts';
import { MergeItem, OverrideItem, RetractItem } from './curation.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });
const common = { tags: ['feed'], params, response: { 200: FeedItemDetail } };
const config = { scope: 'feed:write' as const };

/** What a person says of an item. On an item that others see too it holds for the caller's organization alone. */
export function decisionRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/split',
    config: { ...config, noBody: true },
    schema: { ...common, summary: 'Take an item out of its group of duplicates, for good' },
    handler: (request) => splitItem(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/merge',
    config,
    schema: { ...common, summary: 'Say that an item tells the story of another', body: MergeItem },
    handler: (request) =>
      mergeItem(deps, callerOf(request), request.params.id.toLowerCase(), request.body.into.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/items/:id/retract',
    config: { ...config, bodyOptional: true },
    schema: { ...common, summary: 'Retract an item', body: RetractItem },
    handler: (request) =>
      retractItem(deps, callerOf(request), request.params.id.toLowerCase(), request.body.reason?.trim()),
  });
  app.route({
    method: 'DELETE',
    url: '/api/feed/items/:id/retract',
    config: { ...config, noBody: true },
    schema: { ...common, summary: "Take a person's retraction back" },
    handler: (request) => restoreItem(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/items/:id/override',
    config,
    schema: { ...common, summary: "Say something of an item for the caller's organization alone", body: OverrideItem },
    handler: (request) => putOverride(deps, callerOf(request), request.params.id.toLowerCase(), request.body),
  });
}
