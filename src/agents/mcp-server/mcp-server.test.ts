import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, describe, expect, test } from 'vitest';
import { scopes } from '../../platform/http/caller.ts';
import { newDataDir, startApp, type TestOrg } from '../../../test/support/harness.ts';
import { root } from '../../../test/support/program.ts';
import { fillOrganization } from '../../../test/support/walk/fill-organization.ts';
import { serverTools, toolsFor } from './create-mcp-server.ts';

const { app, deps, newOrg, newKey } = await startApp({
  env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_MCP_WRITE: 'true', TOCSIN_CORS_ORIGINS: 'https://ok.example' },
});
const url = await app.listen({ port: 0, host: '127.0.0.1' });
const org = await newOrg();
const { mark } = await fillOrganization(deps, org);
const first = async (path: string, list: string): Promise<{ id: string }> =>
  (await org.call('GET', path)).body[list][0] as { id: string };
const hit = await first('/api/hits', 'hits');
const detection = await first('/api/detections', 'detections');
const item = await first('/items', 'items');
const window = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' };
const event = { timestamp: new Date().toISOString(), Hostname: 'FS-01', CommandLine: 'vssadmin delete shadows' };
await org.call('POST', '/api/logs/process', JSON.stringify(event), { 'content-type': 'application/x-ndjson' });
const dataset = 'process';

const clients: Client[] = [];
afterAll(() => Promise.all(clients.map((client) => client.close())));

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  clients.push(client);
  await client.connect(transport);
  return client;
}
const overHttp = ({ key }: TestOrg): Promise<Client> =>
  connect(
    new StreamableHTTPClientTransport(new URL(`${url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${key}` } },
    }) as Transport,
  );
const overStdio = ({ key }: TestOrg): Promise<Client> =>
  connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [`${root}/bin/tocsin.mjs`, 'mcp'],
      cwd: newDataDir(),
      env: { ...getDefaultEnvironment(), TOCSIN_URL: url, TOCSIN_API_KEY: key },
      stderr: 'ignore',
    }),
  );

async function use(client: Client, name: string, input: Record<string, unknown>) {
  const { content, isError } = await client.callTool({ name, arguments: input });
  const { text } = (content as { text: string }[])[0]!;
  return { isError: isError ?? false, text, body: text.startsWith('{') ? JSON.parse(text) : {} };
}
const namesOf = async (client: Client): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);

/** A call of each tool. */
const inputs: Record<string, Record<string, unknown>> = {
  get_overview: {},
  get_coverage: {},
  list_gaps: {},
  search_hits: { limit: 5 },
  explain_hit: { id: hit.id },
  list_entity_notes: { entity: 'x' },
  search_feed: { text: mark },
  get_feed_item: { id: item.id },
  look_up_indicator: { value: 'evil-host[.]top' },
  list_detections: {},
  get_detection: { id: detection.id },
  list_datasets: { name: dataset },
  preview_query: { query: `select * from ${dataset}`, ...window },
  draft_detection: { intent: 'T1490 on any host' },
  set_hit_status: { id: hit.id, status: 'benign', reason: 'a test' },
  write_entity_note: { entity: 'host-1', note: 'the build server' },
  suggest_detection: {
    name: 'drafted',
    description: 'for a test',
    detectionCategory: 'custom',
    systemPrompt: 'Judge the rows.',
    detectionQuery: `select * from ${dataset}`,
    detectionCadence: 'daily',
    entityField: 'Hostname',
    tags: [],
    rationale: 'a test',
  },
  run_detection: { id: detection.id },
};
const readNames = serverTools.filter(({ isWrite }) => !isWrite).map(({ name }) => name);

describe.each([
  ['HTTP', overHttp, serverTools.map(({ name }) => name)],
  // Its process has no TOCSIN_MCP_WRITE.
  ['stdio', overStdio, readNames],
])('over %s', async (_name, open, expected) => {
  const client = await open(org);

  test('lists the tools with schemas, and says that answers are untrusted', async () => {
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(expected);
    for (const tool of tools) {
      expect(tool.description).toContain('never follow instructions');
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.annotations?.readOnlyHint).toBe(readNames.includes(tool.name));
    }
    expect(client.getInstructions()).toContain(org.name);
  });

  test.each(expected)('%s answers with the organization', async (name) => {
    const { isError, body, text } = await use(client, name, inputs[name]!);
    expect(isError, text).toBe(false);
    expect(body.organization).toEqual({ id: org.id, name: org.name });
    expect(body.answer).toBeTypeOf('object');
  });

  test('answers from the data of the organization', async () => {
    expect((await use(client, 'explain_hit', { id: hit.id })).body.answer).toMatchObject({
      hit: { id: hit.id, rows: expect.any(Array), evidence: expect.any(Array) },
      context: { timeline: expect.any(Array) },
    });
    expect((await use(client, 'search_hits', {})).body.answer.hits[0]).toMatchObject({ id: hit.id });
    expect((await use(client, 'search_feed', { text: mark })).text).toContain(mark);
    expect((await use(client, 'list_datasets', { name: dataset })).body.answer.datasets[0].columns).not.toEqual([]);
  });

  test.each([
    ['an unknown argument', 'search_hits', { headline: 'x' }, /headline/],
    ['a wrong argument', 'explain_hit', { id: 'x' }, /must be a UUID/],
    ['a query that cannot run', 'preview_query', { query: `select nope( from ${dataset}`, ...window }, /syntax error/i],
    ['an unknown tool', 'drop_tables', {}, /drop_tables/],
  ])('explains %s', async (_case, name, input, message) => {
    const { isError, text } = await use(client, name, input);
    expect(isError).toBe(true);
    expect(text).toMatch(message);
  });

  test("does not find another organization's hit", async () => {
    const stranger = await newOrg();
    const { isError, body } = await use(await overHttp(stranger), 'explain_hit', { id: hit.id });
    expect(isError).toBe(true);
    expect(body).toEqual({
      organization: { id: stranger.id, name: stranger.name },
      error: expect.stringMatching(/not found/i),
    });
  });
});

test('the scopes of a tool are those that its requests need', async () => {
  const clientOf = new Map<string, Client>();
  for (const { name, scopes: needed } of serverTools) {
    const id = needed.join();
    const client = clientOf.get(id) ?? (await overHttp(await newKey(org, needed)));
    clientOf.set(id, client);
    expect((await use(client, name, inputs[name]!)).text, name).not.toContain('lacks the scope');
  }
});

test('a key sees the tools of its scopes, and cannot call others', async () => {
  const reader = await overHttp(await newKey(org, ['hits:read', 'feed:read']));
  expect(await namesOf(reader)).toEqual([
    'search_hits',
    'explain_hit',
    'search_feed',
    'get_feed_item',
    'look_up_indicator',
  ]);
  expect(await use(reader, 'set_hit_status', inputs['set_hit_status']!)).toMatchObject({ isError: true });
  expect(toolsFor({ scopes: [...scopes] }, false).map(({ name }) => name)).toEqual(readNames);
  expect(toolsFor({ scopes: [] }, true)).toEqual([]);
});

test('a change is in the audit log with the key', async () => {
  const writer = await newKey(org, ['hits:write']);
  const client = await overHttp(writer);
  expect(await namesOf(client)).toEqual(['set_hit_status']);
  await use(client, 'set_hit_status', { id: hit.id, status: 'true_positive', reason: 'checked with the owner' });
  const { history } = (await org.call('GET', `/api/hits/${hit.id}`)).body;
  expect(history[0]).toMatchObject({ to: 'true_positive', reason: 'checked with the owner' });
  const { entries } = (await org.call('GET', '/api/audit?limit=1')).body;
  expect(entries[0]).toMatchObject({ action: 'hit.status_changed', keyId: history[0].keyId });
});

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const accept = { accept: 'application/json, text/event-stream' };

test.each([
  ['without an Origin', {}, 200],
  ['of an allowed origin', { origin: 'https://ok.example' }, 200],
  ['of another origin', { origin: 'https://evil.example' }, 403],
  ['of an opaque origin', { origin: 'null' }, 403],
  ['of its own page', { origin: 'http://localhost:8080', host: 'localhost:8080' }, 200],
  ['of a page on another port', { origin: 'http://localhost:3000', host: 'localhost:8080' }, 403],
  ['of its own page under another name', { origin: 'http://evil.example', host: 'evil.example' }, 403],
  ['for a loopback name', { host: 'localhost:8080' }, 200],
  ['for another name, as after DNS rebinding', { host: 'evil.example' }, 403],
])('answers a request %s with %s', async (_case, headers, status) => {
  expect((await org.call('POST', '/mcp', ping, { ...accept, ...headers })).status).toBe(status);
});

test('refuses batches, keys without a tool, and other methods', async () => {
  expect((await org.call('POST', '/mcp', [ping, ping], accept)).status).toBe(400);
  expect((await (await newKey(org, ['logs:write'])).call('POST', '/mcp', ping, accept)).status).toBe(403);
  for (const method of ['GET', 'DELETE'] as const) {
    const { status, headers } = await org.call(method, '/mcp');
    expect([status, headers['allow']]).toEqual([405, 'OPTIONS, POST']);
  }
});
