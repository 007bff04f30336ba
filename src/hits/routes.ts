import type { Deps } from '../deps.ts';
import { callerOf, type App } from '../http/route.ts';
import { getHit, getHits } from './hits.ts';
import { HitDetail, HitFilter, HitList, HitPath } from './schema.ts';

const tags = ['hits'];
const read = { scope: 'hits:read' } as const;

export function hitRoutes(app: App, deps: Pick<Deps, 'db'>): void {
  app.route({
    method: 'GET',
    url: '/api/hits',
    config: read,
    schema: { tags, summary: 'List hits, newest first', querystring: HitFilter, response: { 200: HitList } },
    handler: (request) => getHits(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'GET',
    url: '/api/hits/:id',
    config: read,
    schema: { tags, summary: 'Get a hit with its rows and occurrences', params: HitPath, response: { 200: HitDetail } },
    handler: (request) => getHit(deps, callerOf(request), request.params.id),
  });
}
