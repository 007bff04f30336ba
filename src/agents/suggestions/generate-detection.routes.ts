import { requireCaller, type App } from '../../platform/http/app-type.ts';
import { generateDetection, type GenerateDetectionDeps } from './generate-detection.ts';
import { GeneratedDetection, GenerateRequest } from './generate-detection.schema.ts';

export function generateDetectionRoutes(app: App, deps: GenerateDetectionDeps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/generate',
    config: { scope: 'detections:run' },
    schema: {
      tags: ['detections'],
      summary: 'Generate a detection for an intent and test it on the logs, without storing it',
      body: GenerateRequest,
      response: { 200: GeneratedDetection },
    },
    handler: (request) => generateDetection(deps, requireCaller(request), request.body),
  });
}
