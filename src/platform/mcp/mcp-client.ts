import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { outboundFetch } from '../lib/outbound-http/proxy.ts';
import { publicFetch } from '../lib/outbound-http/public-fetch.ts';
import type { ModelTool } from '../models/model-request.ts';
import { isMcpToolName, type McpServer } from './mcp.schema.ts';

export type McpConnection = { tools: () => Promise<ModelTool[]>; isClosed: () => boolean; close: () => Promise<void> };

const connectMs = 15_000;
const callMs = 30_000;
const toolsMax = 200;
const pagesMax = 10;
const toolsCacheMs = 60_000;
const textMax = 16_000;

/**
 * Connects to a server over stdio or streamable HTTP. A child process gets only the SDK's default environment and the variables
 * from the settings. With `allow`, only public hosts and the listed ones can be reached.
 */
export async function connectToMcpServer(
  name: string,
  server: McpServer,
  allow?: readonly string[],
): Promise<McpConnection> {
  const client = new Client({ name: 'tocsin', version: '1' });
  let isClosed = false;
  Object.assign(client, {
    onclose: (): void => {
      isClosed = true;
    },
  });
  const transport = createTransport(server, allow);
  await client.connect(transport, { timeout: connectMs }).catch(async (error: unknown) => {
    await transport.close().catch(() => undefined);
    throw error;
  });
  let cached: { tools: ModelTool[]; until: number } | undefined;
  return {
    isClosed: () => isClosed,
    close: () => client.close(),
    tools: async () => {
      if (!cached || cached.until < performance.now()) {
        cached = { tools: await listTools(client, name, server), until: performance.now() + toolsCacheMs };
      }
      return cached.tools;
    },
  };
}

function createTransport(server: McpServer, allow: readonly string[] | undefined): Transport {
  if ('command' in server) {
    const { command, args, env } = server;
    return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...env }, stderr: 'ignore' });
  }
  // A redirect would send the headers and data written by a model to an address that is not configured.
  const request = { headers: server.headers, redirect: 'error' as const };
  const options = { requestInit: request, fetch: allow ? publicFetch(allow) : outboundFetch };
  return new StreamableHTTPClientTransport(new URL(server.url), options) as Transport;
}

async function listTools(client: Client, name: string, server: McpServer): Promise<ModelTool[]> {
  const tools: ModelTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const response = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: connectMs });
    for (const tool of response.tools) {
      const fullName = `${name}__${tool.name}`;
      if (!isMcpToolName(fullName) || (server.tools && !server.tools.includes(tool.name)) || tools.length >= toolsMax)
        continue;
      tools.push(toModelTool(client, fullName, tool));
    }
    cursor = response.nextCursor;
    if (cursor === undefined) break;
  }
  return tools;
}

type McpToolDescription = Awaited<ReturnType<Client['listTools']>>['tools'][number];

function toModelTool(client: Client, name: string, tool: McpToolDescription): ModelTool {
  return {
    name,
    description: (tool.description ?? '').slice(0, 1_000),
    inputSchema: tool.inputSchema as Record<string, unknown>,
    // Every call sends data written by the model to the server, whatever the server claims about its tools.
    effect: 'send',
    source: 'outside',
    isForeign: true,
    parse: (input) => ({ input }),
    run: async (input, signal) => {
      const request = { name: tool.name, arguments: input as Record<string, unknown> };
      const response = await client.callTool(request, undefined, { signal, timeout: callMs });
      const text = readText(response.content);
      if (response.isError) throw new Error(text || 'the tool failed');
      return text;
    },
  };
}

function readText(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const parts = content.map((part: { type?: string; text?: string }) =>
    part.type === 'text' ? (part.text ?? '') : `[${part.type}]`,
  );
  return parts.join('\n').slice(0, textMax);
}
