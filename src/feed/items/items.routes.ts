import { z } from 'zod';
import { integerMeta } from '../../platform/lib/schema-parts.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { sendPage } from '../../platform/http/responses/cached-pages.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { FeedItemDetail, FeedList, FeedStats, ItemText } from '../model/item.schema.ts';
import { FacetsQuery, FeedFacets, getFacets, type FacetsDeps, getStats, StatsQuery } from './get-stats.ts';
import { getItem, getItemText } from './get-item.ts';
import { ItemsQuery, listItems, type ListItemsDeps } from './list-items.ts';
import { versionOfOverride } from './override-documents.ts';

const ItemPath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

const TextQuery = z.strictObject({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a version number')
    .meta(integerMeta(1, 999_999_999))
    .optional()
    .describe('Default: the newest version.'),
});

/** The feed at two addresses: that of the interface's first version, and beside the other routes of the feed. */
const addresses = [
  { base: '', list: 'listItems', get: 'getItem', getText: 'getItemText', stats: 'getStats' },
  { base: '/api/feed', list: 'listFeedItems', get: 'getFeedItem', getText: 'getFeedItemText', stats: 'getFeedStats' },
] as const;

export function itemRoutes(app: App, deps: ListItemsDeps & FacetsDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  for (const address of addresses) {
    cachedPageRoutes(app, deps, address);
    itemDetailRoutes(app, deps, address);
  }
  route(
    'GET /api/feed/facets',
    {
      operationId: 'getFeedFacets',
      summary: 'Count the feed items by severity, status, platform and source',
      description: 'With the filters of `GET /items`. Each facet counts the items that the other filters match.',
      query: FacetsQuery,
      returns: FeedFacets,
    },
    ({ caller, query }) => getFacets(deps, caller, query),
  );
}

/** Cached pages are compressed already, so the routes that send them turn the general compression off. */
function cachedPageRoutes(app: App, deps: ListItemsDeps, { base, list, stats }: (typeof addresses)[number]): void {
  const common = {
    method: 'GET',
    config: { scope: 'feed:read', ignoresUnknownQuery: true },
    compress: false,
  } as const;
  app.route({
    ...common,
    url: `${base}/items`,
    schema: {
      operationId: list,
      tags: ['feed'],
      summary: 'List feed items',
      querystring: ItemsQuery,
      response: { 200: FeedList },
    },
    handler: async (request, reply) =>
      sendPage(request, reply, await listItems(deps, requireCaller(request), request.query)),
  });
  app.route({
    ...common,
    url: `${base}/stats`,
    schema: {
      operationId: stats,
      tags: ['feed'],
      summary: 'Get feed statistics',
      querystring: StatsQuery,
      response: { 200: FeedStats },
    },
    handler: async (request, reply) =>
      sendPage(request, reply, await getStats(deps, requireCaller(request), request.query)),
  });
}

function itemDetailRoutes(app: App, deps: ListItemsDeps, { base, get, getText }: (typeof addresses)[number]): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    `GET ${base}/items/:id`,
    {
      operationId: get,
      summary: 'Get a feed item with its versions',
      description: "The `ETag` is the version of the organization's override, `tenantOverrides.revision`.",
      params: ItemPath,
      returns: FeedItemDetail,
      versionOf: versionOfOverride,
    },
    ({ caller, params }) => getItem(deps, caller, params.id.toLowerCase()),
  );
  route(
    `GET ${base}/items/:id/text`,
    {
      operationId: getText,
      summary: 'Get the text that a version of an item was made from',
      params: ItemPath,
      query: TextQuery,
      returns: ItemText,
    },
    ({ caller, params, query: { version } }) =>
      getItemText(deps, caller, params.id.toLowerCase(), version === undefined ? undefined : Number(version)),
  );
}
