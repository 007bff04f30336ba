import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { IdPath } from '../detections/record/detection-input.schema.ts';
import { ContinuousMatching, readContinuous, type ContinuousDeps } from './read-continuous.ts';

export function continuousRoutes(app: App, deps: ContinuousDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'GET /api/detections/:id/continuous',
    {
      operationId: 'getContinuousMatching',
      summary: 'Get the state of the continuous matching of a detection',
      params: IdPath,
      returns: ContinuousMatching,
    },
    ({ caller, params }) => readContinuous(deps, caller, params.id),
  );
}
