import type { Deps } from '../../../app/deps.ts';
import { callerOf, type App } from '../../../platform/http/app-type.ts';
import { BulkRequest, BulkResult, ExportedSet, ImportRequest, ImportResult } from './bulk.schema.ts';
import { changeDetections } from './bulk-actions.ts';
import { exportDetections, importDetections } from './export-import.ts';

const tags = ['detections'];
const read = { scope: 'detections:read' } as const;
const write = { scope: 'detections:write' } as const;
const importBytesMax = 32 * 1024 * 1024;

export function bulkRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'POST',
    url: '/api/detections/bulk',
    config: write,
    schema: { tags, summary: 'Do one thing to many detections', body: BulkRequest, response: { 200: BulkResult } },
    handler: (request) => changeDetections(deps, callerOf(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/export',
    config: read,
    schema: { tags, summary: 'All detections with their tests, as import takes them', response: { 200: ExportedSet } },
    handler: (request) => exportDetections(deps, callerOf(request)),
  });
  app.route({
    method: 'POST',
    url: '/api/detections/import',
    bodyLimit: importBytesMax,
    config: write,
    schema: {
      tags,
      summary: 'Create or update detections that were exported',
      body: ImportRequest,
      response: { 200: ImportResult },
    },
    handler: (request) => importDetections(deps, callerOf(request), request.body),
  });
}
