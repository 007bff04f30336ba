import { requireCaller, type App } from '../http/app-type.ts';
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

const tags = ['tools'];
const admin = { scope: 'connections:admin' } as const;

export function mcpRoutes(app: App, deps: McpServerDeps): void {
  app.route({
    method: 'GET',
    url: '/api/mcp-servers',
    config: admin,
    schema: {
      tags,
      summary: 'List the added MCP servers, newest first',
      querystring: PageQuery,
      response: { 200: McpServerList },
    },
    handler: (request) => listMcpServers(deps, requireCaller(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/mcp-servers',
    config: admin,
    schema: {
      tags,
      summary: 'Add an MCP server by URL',
      body: CreateMcpServer,
      response: { 200: McpServerRecord },
    },
    handler: (request) => createMcpServer(deps, requireCaller(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/mcp-servers/:id',
    config: admin,
    schema: { tags, summary: 'Get an MCP server', params: McpServerPath, response: { 200: McpServerRecord } },
    handler: (request) => getMcpServer(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/mcp-servers/:id',
    config: admin,
    schema: {
      tags,
      summary: 'Change an MCP server. Absent fields stay unchanged',
      params: McpServerPath,
      body: UpdateMcpServer,
      response: { 200: McpServerRecord },
    },
    handler: (request) => changeMcpServer(deps, requireCaller(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/mcp-servers/:id',
    config: { ...admin, ignoresBody: true },
    schema: { tags, summary: 'Delete an MCP server', params: McpServerPath, response: { 200: McpServerRecord } },
    handler: (request) => removeMcpServer(deps, requireCaller(request), request.params.id),
  });
  app.route({
    method: 'POST',
    url: '/api/mcp-servers/:id/check',
    config: { ...admin, ignoresBody: true },
    schema: {
      tags,
      summary: 'Connect to an MCP server and list its tools',
      params: McpServerPath,
      response: { 200: McpServerCheck },
    },
    handler: (request) => checkMcpServer(deps, requireCaller(request), request.params.id),
  });
}
