import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';

/** Creates a typical MCP server with two tools. */
function exampleServer(): McpServer {
  const server = new McpServer({ name: 'example', version: '1' });
  server.registerTool('whois', { description: 'Who owns a name.', inputSchema: { name: z.string() } }, ({ name }) => ({
    content: [
      {
        type: 'text',
        text: `${name} belongs to nobody; ${Object.keys(process.env).includes('TOCSIN_TEST_SECRET') ? 'leaked' : 'clean'}`,
      },
    ],
  }));
  server.registerTool('fail', { description: 'Fails.', inputSchema: {} }, () => ({
    isError: true,
    content: [{ type: 'text', text: 'no such luck' }],
  }));
  return server;
}

/** Responds to one HTTP request as the example server. */
export async function serveExample(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const transport = new StreamableHTTPServerTransport({});
  await exampleServer().connect(transport as never);
  await transport.handleRequest(request, response);
}

if (import.meta.main) await exampleServer().connect(new StdioServerTransport());
