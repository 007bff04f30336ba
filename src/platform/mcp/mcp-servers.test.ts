import { createServer } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { inOrg, queryRows } from '../db/db.ts';
import { startApp } from '../../../test/support/harness.ts';
import { closeServer, listen } from '../../../test/support/listen.ts';
import { serveExample } from '../../../test/support/models/mcp-server.ts';

const settings = { shared: { url: 'http://127.0.0.1:9/mcp' } };
const env = {
  TOCSIN_FETCH_ALLOW: '127.0.0.1',
  TOCSIN_LOG_LEVEL: 'fatal',
  TOCSIN_MCP_SERVERS: JSON.stringify(settings),
};
const { deps, newOrg } = await startApp({ env });
const org = await newOrg();
const key = 'k3y-never-returned';

const seen: string[] = [];
let redirects = false;
const server = createServer((request, response) => {
  seen.push(String(request.headers['x-key']));
  if (redirects) return void response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end();
  if (request.headers['x-key'] !== key)
    return void response.writeHead(401).end(`not ${String(request.headers['x-key'])}`);
  void serveExample(request, response);
});
const url = `${await listen(server)}/mcp`;
afterAll(() => closeServer(server));
const body = { name: 'intel', url, headers: { 'x-key': key } };

test('offers an added server only to the organization that added it', async () => {
  const made = await org.call('POST', '/api/mcp-servers', body);
  expect([made.status, made.body]).toMatchObject([200, { name: 'intel', url, headerNames: ['x-key'], tools: null }]);
  const one = `/api/mcp-servers/${made.body.id}`;
  expect((await org.call('POST', `${one}/check`)).body).toMatchObject({
    ok: true,
    tools: ['intel__whois', 'intel__fail'],
  });
  const named = async (by = org) => (await deps.mcp!.list(by.id)).map(({ name }) => name);
  expect(await named()).toEqual(['intel__whois', 'intel__fail']);
  const stranger = await newOrg();
  expect(await named(stranger)).toEqual([]);
  expect(await deps.mcp!.find(stranger.id, 'intel__whois')).toBeUndefined();
  const tool = (await deps.mcp!.find(org.id, 'intel__whois'))!;
  expect(await tool.run({ name: 'evil.example' }, AbortSignal.timeout(60_000))).toContain('evil.example');
  await org.call('PUT', one, { tools: ['fail'], name: 'renamed' });
  expect(await named()).toEqual(['renamed__fail']);
  expect((await org.call('GET', '/api/mcp-servers')).body.servers).toHaveLength(1);
  await org.call('DELETE', one);
  expect(await named()).toEqual([]);
});

test('stores headers encrypted and never returns them, not even in a server error', async () => {
  const wrong = `${key}-but-wrong`;
  const { body: made } = await org.call('POST', '/api/mcp-servers', { ...body, headers: { 'x-key': wrong } });
  const check = await org.call('POST', `/api/mcp-servers/${made.id}/check`);
  expect([check.status, check.body.code]).toEqual([422, 'check_failed']);
  expect(seen).toContain(wrong);
  const stored = await inOrg(
    deps.db,
    org.id,
    (tx) => queryRows(tx)`select m::text as row, encode(sealed, 'escape') as sealed from mcp_servers m`,
  );
  const audit = await org.call('GET', '/api/audit?limit=200');
  expect(JSON.stringify([made, check, stored, audit])).not.toContain(key);
  const elsewhere = await org.call('PUT', `/api/mcp-servers/${made.id}`, { url: 'http://127.0.0.1:9/' });
  expect([elsewhere.status, elsewhere.body.errors[0].pointer]).toEqual([400, '/headers']);
  await org.call('DELETE', `/api/mcp-servers/${made.id}`);
});

test('does not follow redirects', async () => {
  const { body: made } = await org.call('POST', '/api/mcp-servers', body);
  redirects = true;
  const check = await org.call('POST', `/api/mcp-servers/${made.id}/check`);
  redirects = false;
  expect([check.status, check.body.detail]).toEqual([422, expect.stringContaining('redirect')]);
  await org.call('DELETE', `/api/mcp-servers/${made.id}`);
});

test.each([
  [{ name: 'a b' }, 400, '/name'],
  [{ command: 'sh' }, 400, '/command'],
  [{ url: 'http://intel.example/mcp' }, 400, '/url'],
  [{ url: 'https://u:p@intel.example/mcp' }, 400, '/url'],
  [{ headers: { 'x-key': 'a\nb' } }, 400, '/headers/x-key'],
  [{ name: 'shared' }, 409, undefined],
])('rejects %j', async (fields, status, pointer) => {
  const answer = await org.call('POST', '/api/mcp-servers', { ...body, ...fields });
  expect([answer.status, answer.body.errors?.[0]?.pointer]).toEqual([status, pointer]);
});

test('does not connect to a private address that is not in TOCSIN_FETCH_ALLOW', async () => {
  const { body: made } = await org.call('POST', '/api/mcp-servers', { ...body, url: 'https://10.0.0.1/mcp' });
  const check = await org.call('POST', `/api/mcp-servers/${made.id}/check`);
  expect([check.status, check.body.detail]).toEqual([422, expect.stringContaining('TOCSIN_FETCH_ALLOW')]);
});

test('returns 409 for a name in use', async () => {
  expect((await org.call('POST', '/api/mcp-servers', { ...body, name: 'twice' })).status).toBe(200);
  expect((await org.call('POST', '/api/mcp-servers', { ...body, name: 'twice' })).status).toBe(409);
});
