import { requireCaller, type App } from '../../../platform/http/app-type.ts';
import { IdPath } from '../record/detection-input.schema.ts';
import { grantTool, revokeTool, getGrants, getTools, type ToolDeps } from './tool-grants.ts';
import { GrantToolInput, ToolGrant, ToolGrantList, ToolList, ToolPath } from './tool-grants.schema.ts';

const tags = ['tools'];
const read = { scope: 'detections:read' } as const;
const admin = { scope: 'connections:admin' } as const;

export function toolRoutes(app: App, deps: ToolDeps): void {
  app.route({
    method: 'GET',
    url: '/api/tools',
    config: read,
    schema: { tags, summary: 'List the tools that a detection can use', response: { 200: ToolList } },
    handler: (request) => getTools(deps, requireCaller(request)),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/tools',
    config: read,
    schema: {
      tags,
      summary: 'List the tools that an administrator has granted to a detection',
      params: IdPath,
      response: { 200: ToolGrantList },
    },
    handler: (request) => getGrants(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id/tools/:tool',
    config: { ...admin, isBodyOptional: true },
    schema: {
      tags,
      summary: 'Grant a detection a tool that sends data',
      params: ToolPath,
      body: GrantToolInput,
      response: { 200: ToolGrant },
    },
    handler: (request) => grantTool(deps, requireCaller(request), request.params, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/tools/:tool',
    config: { ...admin, ignoresBody: true },
    schema: { tags, summary: 'Revoke a tool', params: ToolPath, response: { 200: ToolGrantList } },
    handler: (request) => revokeTool(deps, requireCaller(request), request.params),
  });
}
