import { HitPath } from '../../detection/hits/hits.schema.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { HitContext } from './hit-context.schema.ts';
import { getHitContext } from './read-hit-context.ts';

export function hitContextRoutes(app: App, deps: Parameters<typeof getHitContext>[0]): void {
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
}
