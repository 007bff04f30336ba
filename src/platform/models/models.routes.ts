import { requireCaller, type App } from '../http/app-type.ts';
import { listModels, type ListModelsDeps } from './model-list.ts';
import { ModelList } from './models.schema.ts';

export function modelRoutes(app: App, deps: ListModelsDeps): void {
  app.route({
    method: 'GET',
    url: '/api/models',
    config: { scope: 'detections:read' },
    schema: { tags: ['models'], summary: 'List model aliases', response: { 200: ModelList } },
    handler: (request) => listModels(deps, requireCaller(request)),
  });
}
