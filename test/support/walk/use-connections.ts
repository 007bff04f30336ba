import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { whileServing, type readOk } from './fill-organization.ts';
import { exampleServer } from '../models/mcp-server.ts';

type Get = (url: string) => ReturnType<typeof readOk>;
type Send = (url: string, body?: unknown) => ReturnType<typeof readOk>;
type Calls = { get: Get; post: Send; put: Send; remove: Get };

/** Calls every operation on connections and MCP servers, with a SIEM and a server that respond. */
export async function useConnections({ get, post, put, remove }: Calls): Promise<void> {
  await get('/api/connections/kinds');
  await get('/api/connections?limit=1');
  await whileServing('{"fields": {"user": {"keyword": {}}}}', async (url) => {
    const credentials = { user: 'soc', password: 'pw' };
    const settings = { url: new URL(url).origin };
    const { id } = await post('/api/connections', { kind: 'opensearch', name: 'walked', settings, credentials });
    await put(`/api/connections/${id}`, { ...(await get(`/api/connections/${id}`)), places: 1 });
    await post(`/api/connections/${id}/check`);
    await get(`/api/connections/${id}/fields`);
    await remove(`/api/connections/${id}`);
  });
  await whileServingMcp(async (url) => {
    const { id } = await post('/api/mcp-servers', { name: 'walked', url });
    await put(`/api/mcp-servers/${id}`, { ...(await get(`/api/mcp-servers/${id}`)), tools: ['whois'] });
    await post(`/api/mcp-servers/${id}/check`);
    await remove(`/api/mcp-servers/${id}`);
  });
  await get('/api/mcp-servers?limit=1');
}

async function whileServingMcp(work: (url: string) => Promise<void>): Promise<void> {
  const server = createServer((request, response) => {
    void (async () => {
      const transport = new StreamableHTTPServerTransport({});
      await exampleServer().connect(transport as never);
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((listening) => {
    server.listen(0, '127.0.0.1', listening);
  });
  try {
    await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
