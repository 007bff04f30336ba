import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { z } from 'zod';
import { checkModel, type CheckModelDeps } from './check/check-model.ts';
import { ModelCheck } from './check/model-check.schema.ts';
import { listModels, ModelList } from './models.ts';
import { Alias } from './providers.ts';

export function modelRoutes(app: App, deps: CheckModelDeps): void {
  const route = apiRoutes(app, { tag: 'models', scope: 'detections:read' });
  route(
    'GET /api/models',
    { operationId: 'listModels', summary: 'List model aliases', returns: ModelList },
    ({ caller }) => listModels(deps, caller),
  );
  route(
    'POST /api/models/:alias/check',
    {
      operationId: 'checkModel',
      summary: 'Check what a model can do, with one real call for each ability',
      scope: 'connections:admin',
      params: z.object({ alias: Alias }),
      returns: ModelCheck,
    },
    ({ caller, params }) => checkModel(deps, caller, params.alias),
  );
}
