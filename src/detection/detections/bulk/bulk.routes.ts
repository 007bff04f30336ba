import type { UpdateDetectionDeps } from '../update-detection.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { BulkRequest, BulkResult, ExportedSet, ImportRequest, ImportResult } from './bulk.schema.ts';
import { changeDetections } from './bulk-actions.ts';
import { exportDetections, importDetections } from './export-import.ts';

const importBytesMax = 32 * 1024 * 1024;

export function bulkRoutes(app: App, deps: UpdateDetectionDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'POST /api/detections/bulk',
    { summary: 'Apply one action to many detections', body: BulkRequest, returns: BulkResult },
    ({ caller, body }) => changeDetections(deps, caller, body),
  );
  route(
    'GET /api/detections/export',
    { summary: 'Export all detections with their tests', scope: 'detections:read', returns: ExportedSet },
    ({ caller }) => exportDetections(deps, caller),
  );
  route(
    'POST /api/detections/import',
    {
      summary: 'Create or update detections from an export',
      bodyBytesMax: importBytesMax,
      body: ImportRequest,
      returns: ImportResult,
    },
    ({ caller, body }) => importDetections(deps, caller, body),
  );
}
