import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { generateDetection, type GenerateDetectionDeps } from './generate-detection.ts';
import { GeneratedDetection, GenerateRequest } from './generate-detection.schema.ts';

export function generateDetectionRoutes(app: App, deps: GenerateDetectionDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:run' });
  route(
    'POST /api/detections/generate',
    {
      operationId: 'generateDetection',
      summary: 'Generate a detection for an intent and test it on the logs, without storing it',
      body: GenerateRequest,
      returns: GeneratedDetection,
    },
    ({ caller, body }) => generateDetection(deps, caller, body),
  );
}
