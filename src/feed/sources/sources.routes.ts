import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { recordEtag } from '../../platform/http/etag.ts';
import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { PageQuery } from '../../platform/lib/page-request.ts';
import { SourceCatalog, listCatalog } from './catalog.ts';
import { CreateSource, PullOutcome, Source, SourceList, UpdateSource } from './sources.schema.ts';
import { createSource, type CreateSourceDeps } from './create-source.ts';
import { getSource, listSources } from './list-sources.ts';
import { pullSourceNow } from './pull/pull-now.ts';
import type { PullDeps } from './pull/pull-source.ts';
import { deleteSource, updateSource, type UpdateSourceDeps } from './update-source.ts';

const SourcePath = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });
const tags = ['sources'];

type SourceRoutesDeps = CreateSourceDeps & UpdateSourceDeps & PullDeps;

export function sourceRoutes(app: App, deps: SourceRoutesDeps): void {
  app.route({
    method: 'GET',
    url: '/api/feed/sources',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'List feed sources', querystring: PageQuery, response: { 200: SourceList } },
    handler: (request) => listSources(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/sources',
    config: { scope: 'feed:write' },
    schema: { tags, summary: 'Create a feed source', body: CreateSource, response: { 200: Source } },
    handler: async (request, reply) => withEtag(reply, await createSource(deps, requireCaller(request), request.body)),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/catalogue',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'List well-known public sources', response: { 200: SourceCatalog } },
    handler: async () => listCatalog(),
  });
  app.route({
    method: 'GET',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:read' },
    schema: { tags, summary: 'Get a feed source', params: SourcePath, response: { 200: Source } },
    handler: async (request, reply) =>
      withEtag(reply, await getSource(deps, requireCaller(request), request.params.id.toLowerCase())),
  });
  app.route({
    method: 'PUT',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:write' },
    schema: {
      tags,
      summary: 'Update a feed source',
      params: SourcePath,
      body: UpdateSource,
      response: { 200: Source },
    },
    handler: async (request, reply) => {
      const input = { change: request.body, ifMatch: request.headers['if-match'] };
      return withEtag(reply, await updateSource(deps, requireCaller(request), request.params.id.toLowerCase(), input));
    },
  });
  app.route({
    method: 'DELETE',
    url: '/api/feed/sources/:id',
    config: { scope: 'feed:write', ignoresBody: true },
    schema: { tags, summary: 'Delete a feed source. Its items remain.', params: SourcePath, response: { 200: Source } },
    handler: (request) => deleteSource(deps, requireCaller(request), request.params.id.toLowerCase()),
  });
  app.route({
    method: 'POST',
    url: '/api/feed/sources/:id/pull',
    config: { scope: 'feed:write', ignoresBody: true },
    schema: { tags, summary: 'Pull a feed source now', params: SourcePath, response: { 200: PullOutcome } },
    handler: (request) => pullSourceNow(deps, requireCaller(request), request.params.id.toLowerCase()),
  });
}

function withEtag(reply: FastifyReply, source: Source): Source {
  void reply.header('etag', recordEtag(source));
  return source;
}
