import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { getEntities } from './list-entities.ts';
import { getHit, getHits } from './read-hits.ts';
import { EntityFilter, EntityList, HitDetail, HitFilter, HitList, HitPath, HitVerdict } from './hits.schema.ts';
import { setHitStatus, type SetHitStatusDeps } from './set-hit-status.ts';

const tags = ['hits'];
const read = { scope: 'hits:read' } as const;

export function hitRoutes(app: App, deps: SetHitStatusDeps): void {
  app.route({
    method: 'GET',
    url: '/api/hits',
    config: read,
    schema: { tags, summary: 'List hits, newest first', querystring: HitFilter, response: { 200: HitList } },
    handler: (request) => getHits(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/hits/entities',
    config: read,
    schema: {
      tags,
      summary: 'List the entities of hits, last seen first',
      querystring: EntityFilter,
      response: { 200: EntityList },
    },
    handler: (request) => getEntities(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/hits/:id/status',
    config: { scope: 'hits:write' },
    schema: {
      tags,
      summary: 'Set the status of a hit',
      params: HitPath,
      body: HitVerdict,
      response: { 200: HitDetail },
    },
    handler: (request) => setHitStatus(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/hits/:id',
    config: read,
    schema: { tags, summary: 'Get a hit with its rows and occurrences', params: HitPath, response: { 200: HitDetail } },
    handler: (request) => getHit(deps, requireCaller(request), request.params.id),
  });
}
