import type { Deps } from '../../../app/deps.ts';
import { callerOf, type App } from '../../../platform/http/app-type.ts';
import { IdPath } from '../record/detection-input.ts';
import { allowTool, forbidTool, getGrants, getTools } from './tool-grants.ts';
import { AllowTool, ToolGrant, ToolGrantList, ToolList, ToolPath } from './tool-grants.schema.ts';

const tags = ['tools'];
const read = { scope: 'detections:read' } as const;
const admin = { scope: 'connections:admin' } as const;

export function toolRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/tools',
    config: read,
    schema: { tags, summary: 'List the tools that a detection may name', response: { 200: ToolList } },
    handler: (request) => getTools(deps, callerOf(request)),
  });
  app.route({
    method: 'GET',
    url: '/api/detections/:id/tools',
    config: read,
    schema: { tags, summary: 'List what an administrator allowed', params: IdPath, response: { 200: ToolGrantList } },
    handler: (request) => getGrants(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/detections/:id/tools/:tool',
    config: { ...admin, bodyOptional: true },
    schema: {
      tags,
      summary: 'Allow a detection a tool that sends something',
      params: ToolPath,
      body: AllowTool,
      response: { 200: ToolGrant },
    },
    handler: (request) => allowTool(deps, callerOf(request), request.params, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/detections/:id/tools/:tool',
    config: { ...admin, noBody: true },
    schema: { tags, summary: 'Take a tool back', params: ToolPath, response: { 200: ToolGrantList } },
    handler: (request) => forbidTool(deps, callerOf(request), request.params),
  });
}
