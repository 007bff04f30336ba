import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { getEntities, getHit, getHits, withLink } from './read-hits.ts';
import { EntityFilter, EntityList, HitDetail, HitFilter, HitList, HitPath, HitVerdict } from './hits.schema.ts';
import { setHitStatus, type SetHitStatusDeps } from './set-hit-status.ts';

type HitRoutesDeps = SetHitStatusDeps & { config: { publicUrl: string | null } };

export function hitRoutes(app: App, deps: HitRoutesDeps): void {
  const { publicUrl } = deps.config;
  const route = apiRoutes(app, { tag: 'hits', scope: 'hits:read' });
  route(
    'GET /api/hits',
    { operationId: 'listHits', summary: 'List hits, newest first', query: HitFilter, returns: HitList },
    async ({ caller, query }) => {
      const { hits, nextCursor } = await getHits(deps, caller, query);
      return { hits: hits.map((hit) => withLink(hit, publicUrl)), nextCursor };
    },
  );
  route(
    'GET /api/hits/entities',
    {
      operationId: 'listHitEntities',
      summary: 'List the entities of hits, last seen first',
      query: EntityFilter,
      returns: EntityList,
    },
    ({ caller, query }) => getEntities(deps, caller, query),
  );
  route(
    'POST /api/hits/:id/status',
    {
      operationId: 'setHitStatus',
      summary: 'Set the status of a hit',
      scope: 'hits:write',
      params: HitPath,
      body: HitVerdict,
      returns: HitDetail,
    },
    async ({ caller, params, body }) => withLink(await setHitStatus(deps, caller, params.id, body), publicUrl),
  );
  route(
    'GET /api/hits/:id',
    { operationId: 'getHit', summary: 'Get a hit with its rows and occurrences', params: HitPath, returns: HitDetail },
    async ({ caller, params }) => withLink(await getHit(deps, caller, params.id), publicUrl),
  );
}
