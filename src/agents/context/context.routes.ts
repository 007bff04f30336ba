import { HitPath } from '../../detection/hits/hits.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { EntityPath } from '../../detection/entities/entities.schema.ts';
import { EntityProfile, HitContext, IndicatorContext } from './context.schema.ts';
import { getEntityProfile, getHitContext, getIndicatorContext, type ProfileDeps } from './read-context.ts';
import { IndicatorQuery } from '../../feed/indicators/indicators.schema.ts';
import type { LookupDeps } from '../../feed/indicators/look-up-indicators.ts';

/** Registers the routes that show a hit, an entity or an indicator among everything that is known of it. */
export function contextRoutes(app: App, deps: ProfileDeps & LookupDeps): void {
  apiRoutes(app, { tag: 'hits', scope: 'hits:read' })(
    'GET /api/hits/:id/context',
    {
      operationId: 'getHitContext',
      summary:
        'Get other hits of the entity, similar judged hits, feed items that share an indicator, and the time line',
      params: HitPath,
      returns: HitContext,
    },
    ({ caller, params }) => getHitContext(deps, caller, params.id),
  );
  apiRoutes(app, { tag: 'hits', scope: 'hits:read' })(
    'GET /api/entities/:type/:name',
    {
      operationId: 'getEntity',
      summary: 'Get an entity under any of its names, with its aliases, hits, notes and feed items',
      description: 'An entity of which nothing is known has its name as its only alias.',
      params: EntityPath,
      returns: EntityProfile,
    },
    ({ caller, params }) => getEntityProfile(deps, caller, params),
  );
  apiRoutes(app, { tag: 'feed', scope: 'feed:read' })(
    'GET /api/indicators/context',
    {
      operationId: 'getIndicatorContext',
      summary: 'Get everything that is known of an indicator: feed items, sightings in the logs, and hits',
      query: IndicatorQuery,
      returns: IndicatorContext,
    },
    ({ caller, query }) => getIndicatorContext(deps, caller, query.value),
  );
}
