import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { matchesTag } from '../items/snapshot/encoding.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { readBlocklist } from './blocklist.ts';
import { exportMispEvent, exportPage, tlpMaxOf, type Exported, type ExportFormat } from './exports.ts';
import { BlocklistQuery, ExportQuery, ManifestQuery } from './exports-query.ts';

const base = '/api/feed/export';
const EventPath = z.object({ event: z.string() });
const config = { scope: 'feed:read', basic: true } as const;

const urls: [url: string, format: ExportFormat][] = [
  [`${base}/stix`, 'stix'],
  [`${base}/misp/manifest.json`, 'misp'],
  [`${base}/rss`, 'rss'],
  [`${base}/feed.json`, 'json'],
  [`${base}/csv`, 'csv'],
];

/** The feed in the formats of others. Described by these and not by openapi.json, which knows JSON of our own. */
export function exportRoutes(app: App, deps: Deps): void {
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
      return send(reply, await exportMispEvent(deps, callerOf(request), uuidPattern.test(id) ? id : noId));
    },
  });
  app.route({
    method: 'GET',
    url: `${base}/blocklist`,
    config,
    schema: { hide: true, querystring: BlocklistQuery },
    handler: async (request, reply) => {
      const tlpMax = tlpMaxOf('blocklist', request.query.maxTlp);
      const { text, isWhole } = await readBlocklist(deps, callerOf(request), request.query, tlpMax);
      reply.header('x-tocsin-complete', String(isWhole));
      return send(reply, { type: 'text/plain', text, losses: {} });
    },
  });
}

const noId = '00000000-0000-0000-0000-000000000000';

async function sendPage(
  deps: Deps,
  request: FastifyRequest,
  reply: FastifyReply,
  { format, query }: { format: ExportFormat; query: ExportQuery },
): Promise<never> {
  const { etag, read } = await exportPage(deps, callerOf(request), format, query);
  reply.headers({ etag, 'cache-control': 'private, no-cache' });
  if (matchesTag(request.headers['if-none-match'], etag)) return reply.code(304).send() as never;
  const page = await read();
  if (page.next) {
    const next = new URLSearchParams(definedOnly({ ...query, after: page.next }));
    reply.header('link', `<${request.url.split('?')[0]}?${next}>; rel="next"`);
  }
  return send(reply, page);
}

/** What the format could not say stands in a header: fields with the number of values left out. */
function send(reply: FastifyReply, { type, text, losses }: Exported): never {
  const lost = Object.entries(losses).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (lost.length > 0) reply.header('x-tocsin-losses', lost.map(([field, count]) => `${field}=${count}`).join(', '));
  return reply.header('content-type', type).send(Buffer.from(text)) as never;
}

const definedOnly = (query: Record<string, string | undefined>): [string, string][] =>
  Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
