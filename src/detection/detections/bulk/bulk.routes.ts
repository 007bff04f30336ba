import type { UpdateDetectionDeps } from '../update-detection.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { acceptsEventStream, streamProgress } from '../../../platform/http/responses/progress-stream.ts';
import { fieldError } from '../../../platform/lib/errors.ts';
import {
  BulkRequest,
  BulkResult,
  ExportedSet,
  ImportFormat,
  ImportRequest,
  ImportResult,
  type ImportProgress,
  type ImportSigma,
} from './bulk.schema.ts';
import { changeDetections, exportDetections, importDetections } from './bulk-actions.ts';

const importBytesMax = 32 * 1024 * 1024;

export function bulkRoutes(app: App, deps: UpdateDetectionDeps & { importSigma: ImportSigma }): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:write' });
  route(
    'POST /api/detections/bulk',
    {
      operationId: 'changeDetectionsInBulk',
      summary: 'Apply one action to many detections',
      body: BulkRequest,
      returns: BulkResult,
    },
    ({ caller, body }) => changeDetections(deps, caller, body),
  );
  route(
    'GET /api/detections/export',
    {
      operationId: 'exportDetections',
      summary: 'Export all detections with their tests',
      scope: 'detections:read',
      returns: ExportedSet,
    },
    ({ caller }) => exportDetections(deps, caller),
  );
  route(
    'POST /api/detections/import',
    {
      operationId: 'importDetections',
      summary: 'Create or update detections from an export or from Sigma rules',
      description:
        'With `format=sigma` and `Accept: text/event-stream`, the response is a stream of server-sent events: `progress` with `phase` (`converting`, then `storing`), `rulesDone` and `rulesTotal`, then `result` with the outcome, or `problem` with a problem document. The import continues if the client closes the connection.',
      query: ImportFormat,
      bodyBytesMax: importBytesMax,
      body: ImportRequest,
      returns: ImportResult,
    },
    async ({ caller, query, body: { rules, detections, dryRun, ...options }, request, reply }) => {
      const isSigma = query.format === 'sigma';
      const [needed, other] = isSigma ? ['rules', detections] : ['detections', rules];
      if (other !== undefined || (isSigma ? rules : detections) === undefined)
        throw fieldError(
          `/${needed}`,
          'required',
          `${needed} is required, and the only input, ${isSigma ? 'with' : 'without'} format=sigma.`,
        );
      const common = dryRun === undefined ? {} : { dryRun };
      if (!isSigma) return importDetections(deps, caller, { detections: detections!, ...common });
      const input = { rules: rules!, ...options, ...common };
      if (!acceptsEventStream(request)) return deps.importSigma(caller, input);
      await streamProgress({ request, reply }, (report: (progress: ImportProgress) => void) =>
        deps.importSigma(caller, input, report),
      );
      return undefined as never;
    },
  );
}
