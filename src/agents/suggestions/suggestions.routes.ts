import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../../platform/http/app-type.ts';
import { generateDetection } from './generate-detection.ts';
import { Generated, GenerateRequest } from './suggestions.schema.ts';

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
