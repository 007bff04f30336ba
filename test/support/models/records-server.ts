import { createServer } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { closeServer, listen } from '../listen.ts';

type NamedTool = { name: string; description: string; find: (name: string) => Record<string, string>[] };

/** Serves one MCP tool that returns records about a name as JSON, over HTTP. */
export async function serveRecords({
  name,
  description,
  find,
}: NamedTool): Promise<{ url: string; close: () => Promise<void> }> {
  const server = createServer((request, response) => {
    const mcp = new McpServer({ name: 'records', version: '1' });
    mcp.registerTool(name, { description, inputSchema: { name: z.string() } }, (input) => ({
      content: [{ type: 'text', text: JSON.stringify(find(input.name)) }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    void mcp.connect(transport as never).then(() => transport.handleRequest(request, response));
  });
  const url = `${await listen(server)}/mcp`;
  return { url, close: () => closeServer(server) };
}
