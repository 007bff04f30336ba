import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import type { Deps } from '../../app/deps.ts';
import { etagOf } from '../../platform/http/etag.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { KnownSources, listKnownSources } from './catalog.ts';
import { FeedItemDetail } from '../model/item.schema.ts';
import { postItem } from '../ingestion/post-item.ts';
import { CreateSource, PostItem, PullOutcome, Source, SourceList, UpdateSource } from './sources.schema.ts';
import { createSource, deleteSource, getSource, listSources, pullSource, updateSource } from './sources.ts';

const SourcePath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });
const tags = ['sources'];
// JSON may write one byte of a text as six.
const postedBytesMax = 4 * 1024 * 1024;

export function sourceRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/sources',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'List feed sources', querystring: PageQuery, response: { 200: SourceList } },
    handler: (request) => listSources(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/sources',
    config: { scope: 'feed:write' },
    schema: { tags, summary: 'Create a feed source', body: CreateSource, response: { 200: Source } },
    handler: async (request, reply) => withEtag(reply, await createSource(deps, callerOf(request), request.body)),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/catalogue',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'List well-known public sources', response: { 200: KnownSources } },
    handler: async () => listKnownSources(),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'One feed source', params: SourcePath, response: { 200: Source } },
    handler: async (request, reply) =>
      withEtag(reply, await getSource(deps, callerOf(request), request.params.id.toLowerCase())),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:write' },
    schema: {
      tags,
      summary: 'Change a feed source',
      params: SourcePath,
      body: UpdateSource,
      response: { 200: Source },
    },
    handler: async (request, reply) => {
      const input = { change: request.body, ifMatch: request.headers['if-match'] };
      return withEtag(reply, await updateSource(deps, callerOf(request), request.params.id.toLowerCase(), input));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:write', noBody: true },
    schema: { tags, summary: 'Delete a feed source; its items stay', params: SourcePath, response: { 200: Source } },
    handler: (request) => deleteSource(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/sources/:id/pull',
    config: { scope: 'feed:write', noBody: true },
    schema: { tags, summary: 'Pull a feed source now', params: SourcePath, response: { 200: PullOutcome } },
    handler: (request) => pullSource(deps, callerOf(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/items',
    config: { scope: 'feed:write' },
    bodyLimit: postedBytesMax,
    schema: {
      tags: ['feed'],
      summary: "Make an own item from a report's text",
      body: PostItem,
      response: { 200: FeedItemDetail },
    },
    handler: (request) => postItem(deps, callerOf(request), request.body),
  });
}

function withEtag(reply: FastifyReply, source: Source): Source {
  void reply.header('etag', etagOf(source));
  return source;
}
