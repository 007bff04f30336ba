import { z } from 'zod';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { generateDetection, type GenerateDetectionDeps } from './generate-detection.ts';
import { GeneratedDetection, GenerateRequest } from './generate-detection.schema.ts';
import type { ConvertDeps } from '../../detection/sigma/convert/convert-request.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getItemRules, ItemRules } from './report-rules.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function draftingRoutes(app: App, deps: GenerateDetectionDeps & ConvertDeps): void {
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
  const feed = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  feed(
    'GET /api/feed/items/:id/rules',
    {
      operationId: 'listItemRules',
      summary: 'List the YARA, Sigma, Snort and Suricata rules that the text of an item prints',
      description: 'In the order of the text, at most 100, each of at most 65,536 characters.',
      params,
      returns: ItemRules,
    },
    ({ caller, params }) => getItemRules(deps, caller, params.id.toLowerCase()),
  );
}
