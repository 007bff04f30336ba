import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { createMcpServer, toolsFor } from '../../agents/mcp-server/create-mcp-server.ts';
import type { CallApi } from '../../agents/mcp-server/tools/tool.ts';
import { loadConfig } from '../../config.ts';
import { createServiceCall } from '../../detection/as-code/service-client.ts';
import type { CurrentSession } from '../../platform/orgs/sessions/sessions.schema.ts';
import { UsageError } from '../support/failures.ts';
import { printError } from '../support/output.ts';

/** Serves the MCP server on stdin and stdout for the service at `TOCSIN_URL`, until stdin ends. Messages to people go to stderr. */
export async function mcpCommand(): Promise<number> {
  const { url, apiKey: key, isMcpWriteEnabled } = loadConfig();
  if (key === undefined)
    throw new UsageError('Set TOCSIN_API_KEY to a key of the service, and TOCSIN_URL to its address.');
  const call = createServiceCall({ url, key });
  const callApi: CallApi = async <T>(method: string, path: string, body?: unknown) =>
    (await call<T>(method, path, body === undefined ? {} : { body })).body;
  const session = await callApi<CurrentSession>('GET', '/api/session');
  const tools = toolsFor(session, isMcpWriteEnabled);
  if (tools.length === 0)
    throw new Error('The key in TOCSIN_API_KEY has no scope that a tool of the MCP server needs.');
  const server = createMcpServer({ session, tools, callApi });
  const ended = new Promise<void>((end) => {
    process.stdin.once('end', end);
    process.stdin.once('close', end);
  });
  await server.connect(new StdioServerTransport());
  printError(`Serving ${tools.length} tools for ${session.organization.name} at ${url}.`);
  await ended;
  await server.close();
  return 0;
}
