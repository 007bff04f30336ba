import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { EntitiesQuery, EntityPath, FeedEntities, FeedEntityDetail } from './entities.schema.ts';
import { getEntity } from './get-entity.ts';
import { listEntities, type EntitiesDeps } from './list-entities.ts';

export function entityRoutes(app: App, deps: EntitiesDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
    'GET /api/feed/entities',
    {
      operationId: 'listFeedEntities',
      summary: 'List the actors, malware, tools and vulnerabilities of the feed',
      description: 'By type, then by name.',
      query: EntitiesQuery,
      returns: FeedEntities,
    },
    ({ caller, query }) => listEntities(deps, caller, query),
  );
  route(
    'GET /api/feed/entities/:type/:name',
    {
      operationId: 'getFeedEntity',
      summary: 'Get an actor, malware, tool or vulnerability with its indicators, techniques and relationships',
      params: EntityPath,
      returns: FeedEntityDetail,
    },
    ({ caller, params }) => getEntity(deps, caller, params),
  );
}
