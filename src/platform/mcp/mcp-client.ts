import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { publicFetch } from '../lib/outbound-http/public-fetch.ts';
import type { McpServer } from './mcp-settings.ts';
import { isMcpName } from '../../detection/tools/registry.ts';
import type { ReadyTool } from '../../detection/tools/tool.ts';

export type McpConnection = { tools: () => Promise<ReadyTool[]>; isClosed: () => boolean; close: () => Promise<void> };

const connectMs = 15_000;
const callMs = 30_000;
const toolsMax = 200;
const pagesMax = 10;
const knownMs = 60_000;
const textMax = 16_000;

/**
 * One connection to a server, over its standard streams or streamable HTTP. A process gets no environment but what the settings give it and
 * what any needs to start. With `allow` only public hosts are reached, and those that it names.
 */
export async function connectMcp(name: string, server: McpServer, allow?: readonly string[]): Promise<McpConnection> {
  const client = new Client({ name: 'tocsin', version: '1' });
  let closed = false;
  const left = (): void => {
    closed = true;
  };
  Object.assign(client, { onclose: left });
  const transport = transportTo(server, allow);
  await client.connect(transport, { timeout: connectMs }).catch(async (error: unknown) => {
    await transport.close().catch(() => undefined);
    throw error;
  });
  let known: { tools: ReadyTool[]; until: number } | undefined;
  return {
    isClosed: () => closed,
    close: () => client.close(),
    tools: async () => {
      if (!known || known.until < performance.now()) {
        known = { tools: await listTools(client, name, server), until: performance.now() + knownMs };
      }
      return known.tools;
    },
  };
}

function transportTo(server: McpServer, allow: readonly string[] | undefined): Transport {
  if ('command' in server) {
    const { command, args, env } = server;
    return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...env }, stderr: 'ignore' });
  }
  // A redirect would take what a model wrote, and the headers, to an address that no setting names.
  const request = { headers: server.headers, redirect: 'error' as const };
  const options = { requestInit: request, ...(allow ? { fetch: publicFetch(allow) } : {}) };
  return new StreamableHTTPClientTransport(new URL(server.url), options) as Transport;
}

async function listTools(client: Client, name: string, server: McpServer): Promise<ReadyTool[]> {
  const found: ReadyTool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const answer = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout: connectMs });
    for (const tool of answer.tools) {
      const full = `${name}__${tool.name}`;
      if (!isMcpName(full) || (server.tools && !server.tools.includes(tool.name)) || found.length >= toolsMax) continue;
      found.push(readyTool(client, full, tool));
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) break;
  }
  return found;
}

type Listed = Awaited<ReturnType<Client['listTools']>>['tools'][number];

function readyTool(client: Client, name: string, tool: Listed): ReadyTool {
  return {
    name,
    description: (tool.description ?? '').slice(0, 1_000),
    inputSchema: tool.inputSchema as Record<string, unknown>,
    // Whatever a server says of itself: what a model writes goes to it.
    effect: 'send',
    read: (input) => ({ input }),
    run: async (input, signal) => {
      const given = { name: tool.name, arguments: input as Record<string, unknown> };
      const answer = await client.callTool(given, undefined, { signal, timeout: callMs });
      const text = textOf(answer.content);
      if (answer.isError) throw new Error(text || 'the tool failed');
      return text;
    },
  };
}

function textOf(content: unknown): string {
  if (!Array.isArray(content)) return '';
  const parts = content.map((part: { type?: string; text?: string }) =>
    part.type === 'text' ? (part.text ?? '') : `[${part.type}]`,
  );
  return parts.join('\n').slice(0, textMax);
}
