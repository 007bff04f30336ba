import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { closeServer, listen } from '../../../test/support/listen.ts';
import { serveExample } from '../../../test/support/models/mcp-server.ts';
import { toOrgId } from '../lib/org-id.ts';
import { createMcpTools, type McpTools } from './mcp-tools.ts';
import { readMcpSettings } from './mcp.schema.ts';

const mine = toOrgId('01900000-0000-7000-8000-000000000001');
const theirs = toOrgId('01900000-0000-7000-8000-000000000002');
const signal = new AbortController().signal;
const script = resolve(import.meta.dirname, '../../../test/support/models/mcp-server.ts');

function open(settings: unknown): McpTools {
  const tools = createMcpTools(readMcpSettings(JSON.stringify(settings)));
  atFileEnd(() => tools.close());
  return tools;
}

async function httpServer(): Promise<{ url: string; headers: string[] }> {
  const headers: string[] = [];
  const server = createServer((request, response) => {
    headers.push(String(request.headers['x-key']));
    void serveExample(request, response);
  });
  atFileEnd(() => closeServer(server));
  return { url: `${await listen(server)}/mcp`, headers };
}

test('lists and calls tools over stdio and HTTP, named by server and tool', async () => {
  process.env['TOCSIN_TEST_SECRET'] = 'x';
  const http = await httpServer();
  const tools = open({
    local: { command: process.execPath, args: [script] },
    remote: { url: http.url, headers: { 'x-key': 'k' }, tools: ['whois'], organizations: [mine] },
  });
  expect((await tools.list(mine)).map(({ name }) => name)).toEqual(['local__whois', 'local__fail', 'remote__whois']);
  expect((await tools.list(theirs)).map(({ name }) => name)).toEqual(['local__whois', 'local__fail']);
  for (const name of ['local__whois', 'remote__whois']) {
    const tool = (await tools.find(mine, name))!;
    expect(tool).toMatchObject({ effect: 'send', description: 'Who owns a name.', inputSchema: { type: 'object' } });
    expect(await tool.run({ name: 'evil.example' }, signal)).toContain('evil.example belongs to nobody');
  }
  const local = (await tools.find(mine, 'local__whois'))!;
  expect(await local.run({ name: 'a' }, signal)).toContain('clean');
  await expect((await tools.find(mine, 'local__fail'))!.run({}, signal)).rejects.toThrow('no such luck');
  expect(await tools.find(theirs, 'remote__whois')).toBeUndefined();
  expect(await tools.find(mine, 'remote__fail')).toBeUndefined();
  expect(await tools.find(mine, 'constructor__x')).toBeUndefined();
  expect(http.headers).toContain('k');
});

test('lists no tools for servers that cannot be reached', async () => {
  const tools = open({
    gone: { url: 'http://127.0.0.1:9/mcp' },
    bad: { command: process.execPath, args: ['-e', 'process.exit(1)'] },
  });
  expect(await tools.list(mine)).toEqual([]);
});

test('states which setting is invalid', () => {
  expect(() => readMcpSettings('{"a b": {"command": "x"}}')).toThrow('TOCSIN_MCP_SERVERS: a b');
  expect(() => readMcpSettings('{"a": {"url": "ftp://x"}}')).toThrow('TOCSIN_MCP_SERVERS: a');
  expect(() => readMcpSettings('/no/such/file')).toThrow('the file /no/such/file does not exist');
  expect(readMcpSettings(undefined)).toEqual({});
});
