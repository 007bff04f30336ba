import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { createDetection } from './create-detection.ts';
import {
  CreateDetection,
  DetectionFilter,
  IdPath,
  SaveQuery,
  UpdateDetection,
  ValidateQuery,
} from './record/detection-input.schema.ts';
import { deleteDetection, restoreDetection } from './life-cycle.ts';
import { getDetection, getDetections } from './read-detections.ts';
import { Detection, DetectionList } from './record/detection.schema.ts';
import { updateDetection, type UpdateDetectionDeps } from './updates/update-detection.ts';

export function detectionRoutes(app: App, deps: UpdateDetectionDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'GET /api/detections',
    {
      operationId: 'listDetections',
      summary: 'List detections, newest first',
      scope: 'detections:read',
      query: DetectionFilter,
      returns: DetectionList,
      ignoresUnknownQuery: true,
    },
    ({ caller, query }) => getDetections(deps, caller, query),
  );
  route(
    'POST /api/detections',
    {
      operationId: 'createDetection',
      summary: 'Create a detection',
      query: ValidateQuery,
      body: CreateDetection,
      returns: Detection,
      hasEtag: true,
      ignoresUnknownQuery: true,
    },
    ({ caller, query, body }) => createDetection(deps, caller, body, query.validate === 'true'),
  );
  route(
    'GET /api/detections/:id',
    {
      operationId: 'getDetection',
      summary: 'Get a detection or suggestion, deleted or not',
      scope: 'detections:read',
      params: IdPath,
      returns: Detection,
      hasEtag: true,
    },
    ({ caller, params }) => getDetection(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id',
    {
      operationId: 'updateDetection',
      summary: 'Change a detection or an open suggestion. Absent fields are unchanged',
      params: IdPath,
      query: SaveQuery,
      body: UpdateDetection,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
      ignoresUnknownQuery: true,
    },
    ({ caller, params, query, body, request }) => {
      const options = {
        validate: query.validate === 'true',
        requireTests: query.require === 'tests',
        ifMatch: request.headers['if-match'],
      };
      const change = { id: params.id, input: body };
      return updateDetection(deps, caller, change, options);
    },
  );
  route(
    'DELETE /api/detections/:id',
    {
      operationId: 'deleteDetection',
      summary: 'Delete a detection or dismiss a suggestion. Both can be restored',
      ignoresBody: true,
      params: IdPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, request }) => deleteDetection(deps, caller, params.id, request.headers['if-match']),
  );
  route(
    'POST /api/detections/:id/restore',
    {
      operationId: 'restoreDetection',
      summary: 'Restore a deleted detection or a dismissed suggestion',
      ignoresBody: true,
      ignoresUnknownQuery: true,
      params: IdPath,
      returns: Detection,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, request }) => restoreDetection(deps, caller, params.id, request.headers['if-match']),
  );
}
