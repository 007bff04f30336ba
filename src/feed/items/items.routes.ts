import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { chooseEncoding, matchesTag } from './snapshot/encoding.ts';
import { getItem, getItemText } from './get-item.ts';
import { listItems } from './list-items.ts';
import type { Page } from './snapshot/page-cache.ts';
import { ItemsQuery } from './items-query.ts';
import { FeedItemDetail, FeedList, FeedStats, ItemText } from '../model/item.schema.ts';
import { getStats } from './stats.ts';

const ItemPath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

const TextQuery = z.strictObject({
  version: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be the number of a version')
    .optional()
    .meta({ type: 'integer', minimum: 1 })
    .describe('Default: the newest.'),
});
const versionOf = ({ version }: z.infer<typeof TextQuery>): number | undefined =>
  version === undefined ? undefined : Number(version);

/** Pages are kept packed, so the general compression is told to stand aside. */
export function feedRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/items',
    config: { scope: 'feed:read' },
    compress: false,
    schema: { tags: ['feed'], summary: 'List feed items', querystring: ItemsQuery, response: { 200: FeedList } },
    handler: async (request, reply) =>
      sendPage(request, reply, await listItems(deps, callerOf(request), request.query)),
  });
  app.route({
    method: 'GET',
    url: '/items/:id',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'One feed item with its versions',
      params: ItemPath,
      response: { 200: FeedItemDetail },
    },
    handler: (request) => getItem(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'GET',
    url: '/items/:id/text',
    config: { scope: 'feed:read' },
    schema: {
      tags: ['feed'],
      summary: 'The text that a version of an item was made from',
      params: ItemPath,
      querystring: TextQuery,
      response: { 200: ItemText },
    },
    handler: (request) =>
      getItemText(deps, callerOf(request), request.params.id.toLowerCase(), versionOf(request.query)),
  });
  app.route({
    method: 'GET',
    url: '/stats',
    config: { scope: 'feed:read' },
    compress: false,
    schema: { tags: ['feed'], summary: 'Statistics of the feed', response: { 200: FeedStats } },
    handler: async (request, reply) => sendPage(request, reply, await getStats(deps, callerOf(request))),
  });
}

/** Sends the bytes of a page as they are, in the encoding that the client takes best, or 304. */
async function sendPage(request: FastifyRequest, reply: FastifyReply, page: Page): Promise<never> {
  reply.headers({ etag: page.etag, vary: 'Accept-Encoding', 'cache-control': 'private, no-cache' });
  if (matchesTag(request.headers['if-none-match'], page.etag)) return reply.code(304).send() as never;
  const wanted = chooseEncoding(request.headers['accept-encoding']);
  const [bytes, plain] = [await page.bytes(wanted), page.bytes('identity')];
  if (bytes !== plain) reply.header('content-encoding', wanted);
  return reply.header('content-type', 'application/json; charset=utf-8').send(bytes) as never;
}
