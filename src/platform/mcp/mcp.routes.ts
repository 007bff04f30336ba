import type { App } from '../http/app-type.ts';
import { apiRoutes } from '../http/api-routes.ts';
import { PageQuery } from '../lib/page-request.ts';
import {
  CreateMcpServer,
  McpServerCheck,
  McpServerList,
  McpServerPath,
  McpServerRecord,
  UpdateMcpServer,
} from './mcp.schema.ts';
import {
  changeMcpServer,
  checkMcpServer,
  createMcpServer,
  getMcpServer,
  listMcpServers,
  removeMcpServer,
  type McpServerDeps,
} from './mcp-servers.ts';

export function mcpRoutes(app: App, deps: McpServerDeps): void {
  const route = apiRoutes(app, { tag: 'tools', scope: 'connections:admin' });
  route(
    'GET /api/mcp-servers',
    {
      operationId: 'listMcpServers',
      summary: 'List the added MCP servers, newest first',
      query: PageQuery,
      returns: McpServerList,
    },
    ({ caller, query }) => listMcpServers(deps, caller, query),
  );
  route(
    'POST /api/mcp-servers',
    {
      operationId: 'createMcpServer',
      summary: 'Add an MCP server by URL',
      body: CreateMcpServer,
      returns: McpServerRecord,
    },
    ({ caller, body }) => createMcpServer(deps, caller, body),
  );
  route(
    'GET /api/mcp-servers/:id',
    {
      operationId: 'getMcpServer',
      summary: 'Get an MCP server',
      params: McpServerPath,
      returns: McpServerRecord,
      hasEtag: true,
    },
    ({ caller, params }) => getMcpServer(deps, caller, params.id),
  );
  route(
    'PUT /api/mcp-servers/:id',
    {
      operationId: 'updateMcpServer',
      summary: 'Change an MCP server. Absent fields are unchanged',
      params: McpServerPath,
      body: UpdateMcpServer,
      returns: McpServerRecord,
      hasEtag: true,
      acceptsIfMatch: true,
    },
    ({ caller, params, body, ifMatch }) => changeMcpServer(deps, caller, params.id, { ...body, ifMatch }),
  );
  route(
    'DELETE /api/mcp-servers/:id',
    {
      operationId: 'deleteMcpServer',
      summary: 'Delete an MCP server',
      params: McpServerPath,
      returns: McpServerRecord,
    },
    ({ caller, params }) => removeMcpServer(deps, caller, params.id),
  );
  route(
    'POST /api/mcp-servers/:id/check',
    {
      operationId: 'checkMcpServer',
      summary: 'Connect to an MCP server and list its tools',
      params: McpServerPath,
      returns: McpServerCheck,
    },
    ({ caller, params }) => checkMcpServer(deps, caller, params.id),
  );
}
