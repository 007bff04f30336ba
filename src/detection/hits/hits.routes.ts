import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { getEntities } from './list-entities.ts';
import { getHit, getHits } from './read-hits.ts';
import { EntityFilter, EntityList, HitDetail, HitFilter, HitList, HitPath, HitVerdict } from './hits.schema.ts';
import { setHitStatus } from './set-hit-status.ts';

const tags = ['hits'];
const read = { scope: 'hits:read' } as const;

export function hitRoutes(app: App, deps: Pick<Deps, 'db' | 'clock'>): void {
  app.route({
    method: 'GET',
    url: '/api/hits',
    config: read,
    schema: { tags, summary: 'List hits, newest first', querystring: HitFilter, response: { 200: HitList } },
    handler: (request) => getHits(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/hits/entities',
    config: read,
    schema: {
      tags,
      summary: 'List what hits are about, the latest seen first',
      querystring: EntityFilter,
      response: { 200: EntityList },
    },
    handler: (request) => getEntities(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/hits/:id/status',
    config: { scope: 'hits:write' },
    schema: {
      tags,
      summary: 'Say what a hit was',
      params: HitPath,
      body: HitVerdict,
      response: { 200: HitDetail },
    },
    handler: (request) => setHitStatus(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/hits/:id',
    config: read,
    schema: { tags, summary: 'Get a hit with its rows and occurrences', params: HitPath, response: { 200: HitDetail } },
    handler: (request) => getHit(deps, callerOf(request), request.params.id),
  });
}
