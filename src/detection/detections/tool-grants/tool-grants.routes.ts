import type { App } from '../../../platform/http/app-type.ts';
import { apiRoutes } from '../../../platform/http/api-routes.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { grantTool, revokeTool, getGrants, getTools, type ToolDeps } from './tool-grants.ts';
import { GrantToolInput, ToolGrant, ToolGrantList, ToolList, ToolPath } from './tool-grants.schema.ts';

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
      summary: 'List the tools that an administrator has granted to a detection',
      params: IdPath,
      returns: ToolGrantList,
    },
    ({ caller, params }) => getGrants(deps, caller, params.id),
  );
  route(
    'PUT /api/detections/:id/tools/:tool',
    {
      operationId: 'grantTool',
      summary: 'Grant a detection a tool that sends data',
      scope: 'connections:admin',
      isBodyOptional: true,
      params: ToolPath,
      body: GrantToolInput,
      returns: ToolGrant,
    },
    ({ caller, params, body }) => grantTool(deps, caller, params, body),
  );
  route(
    'DELETE /api/detections/:id/tools/:tool',
    {
      operationId: 'revokeTool',
      summary: 'Revoke a tool',
      scope: 'connections:admin',
      ignoresBody: true,
      params: ToolPath,
      returns: ToolGrantList,
    },
    ({ caller, params }) => revokeTool(deps, caller, params),
  );
}
