import { z } from 'zod';
import type { ConvertDeps } from '../../detection/sigma/convert/convert-request.ts';
import type { App } from '../../platform/http/app-type.ts';
import { apiRoutes } from '../../platform/http/api-routes.ts';
import { uuidPattern } from '../../platform/lib/org-id.ts';
import { getItemRules } from './report-rules.ts';
import { ItemRules } from './report-rules.schema.ts';

const params = z.object({ id: z.string().regex(uuidPattern, 'must be a UUID') });

export function reportRuleRoutes(app: App, deps: ConvertDeps): void {
  const route = apiRoutes(app, { tag: 'feed', scope: 'feed:read' });
  route(
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
