import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import {
  grantTool,
  revokeTool,
  getGrants,
  getTools,
  versionOfGrant,
  type ToolDeps,
  GrantToolInput,
  ToolGrant,
  ToolGrantList,
  ToolList,
  ToolPath,
} from './tool-grants.ts';

export function toolRoutes(app: App, deps: ToolDeps): void {
  const route = apiRoutes(app, { tag: 'tools', scope: 'detections:read' });
  route(
    'GET /api/tools',
    { operationId: 'listTools', summary: 'List the tools that a detection can use', returns: ToolList },
    ({ caller }) => getTools(deps, caller),
  );
  route(
    'GET /api/detections/:id/tools',
    {
      operationId: 'listGrantedTools',
      summary: 'List the tools that an administrator has granted to a detection or response agent',
      params: IdPath,
      returns: ToolGrantList,
    },
    ({ caller, params }) => getGrants(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id/tools/:tool',
    {
      operationId: 'grantTool',
      summary: 'Grant a detection or response agent a tool that sends data',
      description: 'The version for `If-Match` is `allowedAt`, and 0 for a tool that is not granted.',
      scope: 'connections:admin',
      isBodyOptional: true,
      params: ToolPath,
      acceptsIfMatch: true,
      body: GrantToolInput,
      returns: ToolGrant,
      versionOf: versionOfGrant,
    },
    ({ caller, params, body, ifMatch }) => grantTool(deps, caller, { ...params, ifMatch }, body),
  );
  route(
    'DELETE /api/detections/:id/tools/:tool',
    {
      operationId: 'revokeTool',
      summary: 'Revoke a tool',
      scope: 'connections:admin',
      acceptsIfMatch: true,
      params: ToolPath,
      returns: ToolGrantList,
    },
    ({ caller, params, ifMatch }) => revokeTool(deps, caller, { ...params, ifMatch }),
  );
}
