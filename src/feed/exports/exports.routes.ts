import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { matchesEtag } from '../items/page-cache/http-caching.ts';
import { readBlocklist } from './blocklist.ts';
import { effectiveTlpMax, exportMispEvent, openExport, type ExportFile, type ExportFormat } from './export-feed.ts';
import type { ExportDeps } from './export-page.ts';
import { BlocklistQuery, ExportQuery, ManifestQuery } from './exports-query.ts';

const base = '/api/feed/export';
const EventPath = z.object({ event: z.string() });
const config = { scope: 'feed:read', acceptsBasicAuth: true } as const;

const urls: [url: string, format: ExportFormat][] = [
  [`${base}/stix`, 'stix'],
  [`${base}/misp/manifest.json`, 'misp'],
  [`${base}/rss`, 'rss'],
  [`${base}/feed.json`, 'json'],
  [`${base}/csv`, 'csv'],
];

/** Exports of the feed in standard formats. They are not in openapi.json, because each format is defined by its own standard. */
export function exportRoutes(app: App, deps: ExportDeps): void {
  for (const [url, format] of urls) {
    app.route({
      method: 'GET',
      url,
      config,
      schema: { hide: true, querystring: format === 'misp' ? ManifestQuery : ExportQuery },
      handler: (request, reply) => sendPage(deps, request, reply, { format, query: request.query }),
    });
  }
  app.route({
    method: 'GET',
    url: `${base}/misp/:event`,
    config,
    schema: { hide: true, params: EventPath },
    handler: async (request, reply) => {
      const id = request.params.event.replace(/\.json$/, '').toLowerCase();
      const eventId = uuidPattern.test(id) ? id : unknownId;
      return sendFile(reply, await exportMispEvent(deps, requireCaller(request), eventId));
    },
  });
  app.route({
    method: 'GET',
    url: `${base}/blocklist`,
    config,
    schema: { hide: true, querystring: BlocklistQuery },
    handler: async (request, reply) => {
      const tlpMax = effectiveTlpMax('blocklist', request.query.maxTlp);
      const { text, isComplete } = await readBlocklist(deps, requireCaller(request), request.query, tlpMax);
      reply.header('x-tocsin-complete', String(isComplete));
      return sendFile(reply, { type: 'text/plain', text, unsupported: {} });
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
    reply.header('link', `<${request.url.split('?')[0]}?${next}>; rel="next"`);
  }
  return sendFile(reply, page);
}

/** The header `x-tocsin-losses` counts the values that the format cannot represent, by field. */
function sendFile(reply: FastifyReply, { type, text, unsupported }: ExportFile): never {
  const counts = Object.entries(unsupported).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (counts.length > 0)
    reply.header('x-tocsin-losses', counts.map(([field, count]) => `${field}=${count}`).join(', '));
  return reply.header('content-type', type).send(Buffer.from(text)) as never;
}

const definedEntries = (query: Record<string, string | undefined>): [string, string][] =>
  Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
