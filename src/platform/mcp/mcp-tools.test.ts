import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { afterAll, expect, test } from 'vitest';
import { exampleServer } from '../../../test/support/models/mcp-server.ts';
import { orgId } from '../lib/org-id.ts';
import { createMcpTools, type McpTools } from './mcp-tools.ts';
import { readMcpSettings } from './mcp-settings.ts';

const mine = orgId('01900000-0000-7000-8000-000000000001');
const theirs = orgId('01900000-0000-7000-8000-000000000002');
const signal = new AbortController().signal;
const script = resolve(import.meta.dirname, '../../../test/support/models/mcp-server.ts');

function open(settings: unknown): McpTools {
  const tools = createMcpTools(readMcpSettings(JSON.stringify(settings)));
  afterAll(() => tools.close());
  return tools;
}

async function httpServer(): Promise<{ url: string; headers: string[] }> {
  const headers: string[] = [];
  const server = createServer((request, response) => {
    headers.push(String(request.headers['x-key']));
    void (async () => {
      const transport = new StreamableHTTPServerTransport({});
      await exampleServer().connect(transport as never);
      await transport.handleRequest(request, response);
    })();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`, headers };
}

test('both transports give the tools of a server, by its name and theirs', async () => {
  process.env['TOCSIN_TEST_SECRET'] = 'x';
  const http = await httpServer();
  const tools = open({
    local: { command: process.execPath, args: [script] },
    far: { url: http.url, headers: { 'x-key': 'k' }, tools: ['whois'], organizations: [mine] },
  });
  expect((await tools.list(mine)).map(({ name }) => name)).toEqual(['local__whois', 'local__fail', 'far__whois']);
  expect((await tools.list(theirs)).map(({ name }) => name)).toEqual(['local__whois', 'local__fail']);
  for (const name of ['local__whois', 'far__whois']) {
    const tool = (await tools.find(mine, name))!;
    expect(tool).toMatchObject({ effect: 'send', description: 'Who owns a name.', inputSchema: { type: 'object' } });
    expect(await tool.run({ name: 'evil.example' }, signal)).toContain('evil.example belongs to nobody');
  }
  const local = (await tools.find(mine, 'local__whois'))!;
  expect(await local.run({ name: 'a' }, signal)).toContain('clean');
  await expect((await tools.find(mine, 'local__fail'))!.run({}, signal)).rejects.toThrow('no such luck');
  expect(await tools.find(theirs, 'far__whois')).toBeUndefined();
  expect(await tools.find(mine, 'far__fail')).toBeUndefined();
  expect(await tools.find(mine, 'constructor__x')).toBeUndefined();
  expect(http.headers).toContain('k');
});

test('a server that is not there gives no tools and stops nothing', async () => {
  const tools = open({
    gone: { url: 'http://127.0.0.1:9/mcp' },
    bad: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
  });
  expect(await tools.list(mine)).toEqual([]);
});

test('settings that are wrong are named', () => {
  expect(() => readMcpSettings('{"a b": {"command": "x"}}')).toThrow('TOCSIN_MCP_SERVERS: a b');
  expect(() => readMcpSettings('{"a": {"url": "ftp://x"}}')).toThrow('TOCSIN_MCP_SERVERS: a');
  expect(() => readMcpSettings('/no/such/file')).toThrow('there is no file /no/such/file');
  expect(readMcpSettings(undefined)).toEqual({});
});
