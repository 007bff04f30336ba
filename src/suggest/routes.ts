import type { Deps } from '../deps.ts';
import { callerOf, type App } from '../http/route.ts';
import { generateDetection } from './generate.ts';
import { Generated, GenerateRequest } from './schema.ts';

export function generateRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/generate',
    config: { scope: 'detections:run' },
    schema: {
      tags: ['detections'],
      summary: 'Write a detection for an intent and run it over the logs, storing nothing',
      body: GenerateRequest,
      response: { 200: Generated },
    },
    handler: (request) => generateDetection(deps, callerOf(request), request.body),
  });
}
