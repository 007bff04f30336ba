import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { listModels, type ListModelsDeps, ModelList } from './models.ts';

export function modelRoutes(app: App, deps: ListModelsDeps): void {
  const route = apiRoutes(app, { tag: 'models', scope: 'detections:read' });
  route(
    'GET /api/models',
    { operationId: 'listModels', summary: 'List model aliases', returns: ModelList },
    ({ caller }) => listModels(deps, caller),
  );
}
