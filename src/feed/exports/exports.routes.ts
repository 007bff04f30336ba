import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { matchesEtag } from '../../platform/http/responses/cached-pages.ts';
import { readBlocklist } from './indicator-lists.ts';
import { effectiveTlpMax, exportMispEvent, openExport, type ExportFile, type ExportFormat } from './export-feed.ts';
import type { ExportDeps } from './export-page.ts';
import { BlocklistQuery, EventQuery, ExportQuery, ManifestQuery } from './exports-query.ts';

const base = '/api/feed/export';
const EventPath = z.object({ event: z.string() });
const config = { scope: 'feed:read', acceptsBasicAuth: true } as const;

type ExportRoute = { path: string; format: ExportFormat; type: string; operationId: string; summary: string };

const routes: ExportRoute[] = [
  {
    path: 'stix',
    format: 'stix',
    type: 'application/stix+json;version=2.1',
    operationId: 'exportStix',
    summary: 'Export the feed as STIX 2.1 bundles',
  },
  {
    path: 'misp/manifest.json',
    format: 'misp',
    type: 'application/json',
    operationId: 'exportMispManifest',
    summary: 'Export the manifest of a MISP feed',
  },
  {
    path: 'rss',
    format: 'rss',
    type: 'application/rss+xml',
    operationId: 'exportRss',
    summary: 'Export the feed as RSS',
  },
  {
    path: 'feed.json',
    format: 'json',
    type: 'application/feed+json',
    operationId: 'exportJsonFeed',
    summary: 'Export the feed as a JSON Feed',
  },
  { path: 'csv', format: 'csv', type: 'text/csv', operationId: 'exportCsv', summary: 'Export the indicators as CSV' },
];

const paging = 'The header `Link` has the address of the next page, with the parameter `after`, until the last one.';
const byName =
  'The filters `malware`, `tool` and `actor` select the values that an item assigns to the name. `X-Tocsin-Unassigned` is the number of values that were left out.';
/** The standard of each format defines the response. */
const describe = (operationId: string, summary: string, description: string, type: string) => ({
  operationId,
  tags: ['exports'],
  summary,
  description,
  response: {
    200: { description: 'OK', content: { [type]: { schema: type.includes('json') ? z.looseObject({}) : z.string() } } },
  },
});

/** Exports of the feed in standard formats. */
export function exportRoutes(app: App, deps: ExportDeps): void {
  for (const { path, format, type, operationId, summary } of routes) {
    app.route({
      method: 'GET',
      url: `${base}/${path}`,
      config,
      schema: {
        ...describe(operationId, summary, `${summary}. ${paging} ${byName}`, type),
        querystring: format === 'misp' ? ManifestQuery : ExportQuery,
      },
      handler: (request, reply) => sendPage(deps, request, reply, { format, query: request.query as ExportQuery }),
    });
  }
  app.route({
    method: 'GET',
    url: `${base}/misp/:event`,
    config,
    schema: {
      ...describe(
        'exportMispEvent',
        'Export a feed item as a MISP event',
        `An event that the manifest lists. ${byName}`,
        'application/json',
      ),
      params: EventPath,
      querystring: EventQuery,
    },
    handler: async (request, reply) => {
      const id = request.params.event.replace(/\.json$/, '').toLowerCase();
      const eventId = uuidPattern.test(id) ? id : unknownId;
      return sendFile(reply, await exportMispEvent(deps, requireCaller(request), { eventId, query: request.query }));
    },
  });
  app.route({
    method: 'GET',
    url: `${base}/blocklist`,
    config,
    schema: {
      ...describe(
        'exportBlocklist',
        'Export indicators as a blocklist',
        `One value per line. The header \`X-Tocsin-Complete\` is \`false\` if the limit cut the list. ${byName}`,
        'text/plain',
      ),
      querystring: BlocklistQuery,
    },
    handler: async (request, reply) => {
      const tlpMax = effectiveTlpMax('blocklist', request.query.maxTlp);
      const { text, isComplete, unassigned } = await readBlocklist(deps, requireCaller(request), request.query, tlpMax);
      reply.header('x-tocsin-complete', String(isComplete));
      return sendFile(reply, { type: 'text/plain', text, unsupported: {}, unassigned });
    },
  });
}

const unknownId = '00000000-0000-0000-0000-000000000000';

async function sendPage(
  deps: ExportDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { format, query }: { format: ExportFormat; query: ExportQuery },
): Promise<never> {
  const { etag, read } = await openExport(deps, requireCaller(request), format, query);
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  if (matchesEtag(request.headers['if-none-match'], etag)) return reply.code(304).send() as never;
  const page = await read();
  if (page.next) {
    const next = new URLSearchParams(definedEntries({ ...query, after: page.next }));
    reply.header('link', `<${request.server.basePath}${request.url.split('?')[0]}?${next}>; rel="next"`);
  }
  return sendFile(reply, page);
}

/**
 * The header `x-tocsin-losses` counts the values that the format cannot represent, by field, and `x-tocsin-unassigned` those that a filter by
 * name left out.
 */
function sendFile(
  reply: FastifyReply,
  { type, text, unsupported, unassigned }: ExportFile & { unassigned: number },
): never {
  const counts = Object.entries(unsupported).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (counts.length > 0)
    reply.header('x-tocsin-losses', counts.map(([field, count]) => `${field}=${count}`).join(', '));
  if (unassigned > 0) reply.header('x-tocsin-unassigned', String(unassigned));
  return reply.header('content-type', type).send(Buffer.from(text)) as never;
}

const definedEntries = (query: Record<string, string | undefined>): [string, string][] =>
  Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
