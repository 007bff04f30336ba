import type { Deps } from '../../app/deps.ts';
import { callerOf, type App } from '../http/app-type.ts';
import { PageQuery } from '../lib/page-request.ts';
import {
  CreateMcpServer,
  McpServerCheck,
  McpServerList,
  McpServerPath,
  McpServerRecord,
  UpdateMcpServer,
} from './mcp.schema.ts';
import { changeServer, checkServer, createServer, getServer, getServers, removeServer } from './mcp-servers.ts';

const tags = ['tools'];
const admin = { scope: 'connections:admin' } as const;

export function mcpRoutes(app: App, deps: Deps): void {
  app.route({
    method: 'GET',
    url: '/api/mcp-servers',
    config: admin,
    schema: {
      tags,
      summary: 'List the MCP servers added, newest first',
      querystring: PageQuery,
      response: { 200: McpServerList },
    },
    handler: (request) => getServers(deps, callerOf(request), request.query),
  });
  app.route({
    method: 'POST',
    url: '/api/mcp-servers',
    config: admin,
    schema: {
      tags,
      summary: 'Add an MCP server by its address',
      body: CreateMcpServer,
      response: { 200: McpServerRecord },
    },
    handler: (request) => createServer(deps, callerOf(request), request.body),
  });
  app.route({
    method: 'GET',
    url: '/api/mcp-servers/:id',
    config: admin,
    schema: { tags, summary: 'Get an MCP server', params: McpServerPath, response: { 200: McpServerRecord } },
    handler: (request) => getServer(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'PUT',
    url: '/api/mcp-servers/:id',
    config: admin,
    schema: {
      tags,
      summary: 'Change an MCP server; absent fields stay',
      params: McpServerPath,
      body: UpdateMcpServer,
      response: { 200: McpServerRecord },
    },
    handler: (request) => changeServer(deps, callerOf(request), request.params.id, request.body),
  });
  app.route({
    method: 'DELETE',
    url: '/api/mcp-servers/:id',
    config: { ...admin, noBody: true },
    schema: { tags, summary: 'Delete an MCP server', params: McpServerPath, response: { 200: McpServerRecord } },
    handler: (request) => removeServer(deps, callerOf(request), request.params.id),
  });
  app.route({
    method: 'POST',
    url: '/api/mcp-servers/:id/check',
    config: { ...admin, noBody: true },
    schema: {
      tags,
      summary: 'Connect to an MCP server and list its tools',
      params: McpServerPath,
      response: { 200: McpServerCheck },
    },
    handler: (request) => checkServer(deps, callerOf(request), request.params.id),
  });
}
