import { apiRoutes } from '../../../platform/http/api-routes.ts';
import type { App } from '../../../platform/http/app-type.ts';
import { convertSigma, type ConvertDeps, ConvertRequest, ConvertResult } from './convert-request.ts';

const bodyBytesMax = 32 * 1024 * 1024;

export function sigmaRoutes(app: App, deps: ConvertDeps): void {
  const route = apiRoutes(app, { tag: 'detections', scope: 'detections:read' });
  route(
    'POST /api/sigma/convert',
    {
      operationId: 'convertSigmaRules',
      summary: 'Convert Sigma rules to queries',
      description: 'Nothing is stored. A rule that cannot be converted does not affect the others.',
      bodyBytesMax,
      body: ConvertRequest,
      returns: ConvertResult,
    },
    ({ caller, body }) => convertSigma(deps, caller, body),
  );
}
