import type { UpdateDetectionDeps } from '../update-detection.ts';
import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { BulkRequest, BulkResult, ExportedSet, ImportRequest, ImportResult } from './bulk.schema.ts';
import { changeDetections } from './bulk-actions.ts';
import { exportDetections, importDetections } from './export-import.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;
const importBytesMax = 32 * 1024 * 1024;

export function bulkRoutes(app: App, deps: UpdateDetectionDeps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/bulk',
    config: write,
    schema: { tags, summary: 'Apply one action to many detections', body: BulkRequest, response: { 200: BulkResult } },
    handler: (request) => changeDetections(deps, requireCaller(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/export',
    config: read,
    schema: { tags, summary: 'Export all detections with their tests', response: { 200: ExportedSet } },
    handler: (request) => exportDetections(deps, requireCaller(request)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/import',
    bodyLimit: importBytesMax,
    config: write,
    schema: {
      tags,
      summary: 'Create or update detections from an export',
      body: ImportRequest,
      response: { 200: ImportResult },
    },
    handler: (request) => importDetections(deps, requireCaller(request), request.body),
  });
}
