import { createServer, type Server } from 'node:http';
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newDataDir, startApp, type TestApp, type TestOrg } from '../../../test/support/harness.ts';
import { pullNextDue } from './pull/start-pulls.ts';
import { claimDueSourceAcrossOrgs } from './sources.store.ts';
import { commandLine, kevCatalogue, kevRow, kevRows } from '../../../test/support/feed/kev-source.ts';
import { emptyResult } from '../ingestion/pull-plan.ts';
import { createSource } from './update-source.ts';
import { stixBundle } from '../../../test/support/feed/stix-documents.ts';

let app: TestApp;
let server: Server;
let base = '';
let org: TestOrg;
let now = new Date('2025-03-01T10:20:00.000Z');
type Answer = { status: number; body: string; etag?: string; retryAfter?: string; delayMs?: number };
let answer: Answer = { status: 200, body: '' };
const asked: Record<string, unknown>[] = [];
const open = newDataDir();

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.headers);
    const { status, body, etag, retryAfter, delayMs = 0 } = answer;
    setTimeout(() => {
      if (etag && request.headers['if-none-match'] === etag) response.writeHead(304).end();
      else
        response
          .writeHead(status, { ...(etag ? { etag } : {}), ...(retryAfter ? { 'retry-after': retryAfter } : {}) })
          .end(body);
    }, delayMs);
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  app = await startApp({ clock: () => now, env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_FILE_SOURCES: open } });
  org = await app.newOrg();
});
afterAll(() => void server.close());

const input = (more: object = {}) => ({ kind: 'kev', name: 'KEV', url: `${base}/kev.json`, ...more });
const serve = (content: unknown, more: Partial<Answer> = {}): void => {
  answer = { status: 200, body: JSON.stringify(content), ...more };
};

describe('source records', () => {
  test('creates, gets, lists, updates and deletes a source', async () => {
    const mine = await app.newOrg();
    const created = await mine.call('POST', '/api/feed/sources', input({ tlp: 'WHITE', schedule: ' 30  */6 * * * ' }));
    expect(created.status).toBe(200);
    expect(created.body).toMatchObject({
      kind: 'kev',
      name: 'KEV',
      tlp: 'CLEAR',
      publisher: null,
      reliability: 0.95,
      schedule: '30 */6 * * *',
      enabled: true,
      visibility: 'private',
      own: true,
      nextPullAt: '2025-03-01T12:30:00.000Z',
      lastPullAt: null,
      lagSeconds: null,
      lastResult: null,
    });
    const url = `/api/feed/sources/${created.body.id}`;
    expect((await mine.call('GET', url)).body).toEqual(created.body);
    expect((await mine.call('GET', '/api/feed/sources')).body).toEqual({ sources: [created.body], nextCursor: null });
    // The response of a GET can be sent back in a PUT and changes nothing.
    expect((await mine.call('PUT', url, created.body)).body).toEqual(created.body);
    const change = { name: 'Mine', publisher: 'P', schedule: null, enabled: false };
    const changed = (await mine.call('PUT', url, change)).body;
    expect(changed).toMatchObject({
      name: 'Mine',
      publisher: 'P',
      schedule: '0 * * * *',
      enabled: false,
      nextPullAt: null,
      url: input().url,
    });
    expect(changed.updatedAt > created.body.updatedAt).toBe(true);
    expect((await mine.call('DELETE', url)).status).toBe(200);
    for (const method of ['GET', 'DELETE'] as const) expect((await mine.call(method, url)).status).toBe(404);
    expect((await mine.call('GET', '/api/feed/sources')).body.sources).toEqual([]);
    const { entries } = (await mine.call('GET', '/api/audit')).body;
    const actions: string[] = entries.map(({ action }: { action: string }) => action);
    const sourceActions = actions.filter((action) => action.startsWith('source.'));
    expect(sourceActions).toEqual(['source.deleted', 'source.updated', 'source.created']);
  });

  test.each([
    [{ kind: 'gopher' }, '/kind'],
    [{ kind: undefined }, '/kind'],
    [{ name: '' }, '/name'],
    [{ name: 'x'.repeat(256) }, '/name'],
    [{ url: 'not an address' }, '/url'],
    [{ url: 'ftp://example.com/x' }, '/url'],
    [{ url: 'https://user:pw@example.com/x' }, '/url'],
    [{ url: 'file:///etc/passwd' }, '/url'],
    [{ url: 'file:///no/such/file' }, '/url'],
    [{ tlp: 'PINK' }, '/tlp'],
    [{ reliability: 1.1 }, '/reliability'],
    [{ schedule: '* * * * *' }, '/schedule'],
    [{ schedule: 'often' }, '/schedule'],
    [{ include: [''] }, '/include/0'],
    [{ nmae: 'x' }, '/nmae'],
  ])('%j is refused by name', async (more, pointer) => {
    const { status, body } = await org.call('POST', '/api/feed/sources', input(more));
    expect(status).toBe(400);
    expect(body.errors[0].pointer).toBe(pointer);
  });

  test('returns 412 unless If-Match names the current version', async () => {
    const made = await org.call('POST', '/api/feed/sources', input());
    const url = `/api/feed/sources/${made.body.id}`;
    const etag = String((await org.call('GET', url)).headers['etag']);
    expect(etag).toBe(made.headers['etag']);
    expect((await org.call('PUT', url, { name: 'A' }, { 'if-match': etag })).status).toBe(200);
    expect((await org.call('PUT', url, { name: 'B' }, { 'if-match': etag })).status).toBe(412);
    expect((await org.call('GET', url)).body.name).toBe('A');
  });

  test('rejects a change of kind or visibility', async () => {
    const { body } = await org.call('POST', '/api/feed/sources', input());
    for (const [name, value] of Object.entries({ kind: 'stix', visibility: 'shared' })) {
      const refused = await org.call('PUT', `/api/feed/sources/${body.id}`, { [name]: value });
      expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, `/${name}`]);
    }
  });
});

describe('files', () => {
  test('reads files and directories below an allowed directory, but not a symbolic link out of it', async () => {
    const mine = await app.newOrg();
    const folder = join(open, 'bundles');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'a.json'), JSON.stringify(stixBundle(['a.example'])));
    writeFileSync(join(folder, 'b.json'), 'broken');
    const fileInput = (path: string) => ({ kind: 'stix' as const, name: 'x', url: pathToFileURL(path).href });
    const { body } = await mine.call('POST', '/api/feed/sources', fileInput(folder));
    const skipped = [{ entry: 'b.json', reason: 'the document is not valid JSON' }];
    const pulled = (await mine.call('POST', `/api/feed/sources/${body.id}/pull`)).body;
    expect(pulled).toEqual({ ...emptyResult, added: 1, skipped });
    const outside = join(app.dataDir, 'outside.json');
    writeFileSync(outside, JSON.stringify(stixBundle(['b.example'])));
    symlinkSync(outside, join(open, 'link.json'));
    const refused = await mine.call('POST', '/api/feed/sources', fileInput(join(open, 'link.json')));
    expect([refused.status, refused.body.errors[0].pointer]).toEqual([400, '/url']);
    // The command line may use any file.
    expect(await createSource(app.deps, commandLine(mine), fileInput(outside))).toMatchObject({ own: true });
  });
});

describe('pulls', () => {
  test('counts a 304 response like the last good pull', async () => {
    const mine = await app.newOrg();
    const { body: source } = await mine.call('POST', '/api/feed/sources', input({ enabled: false }));
    const pull = async () => (await mine.call('POST', `/api/feed/sources/${source.id}/pull`, {})).body;
    serve(kevCatalogue(1, kevRows(30)), { etag: '"1"' });
    expect(await pull()).toMatchObject({ added: 30 });
    expect(await pull()).toMatchObject({ added: 0, unchanged: 30 });
    expect(asked.at(-1)).toMatchObject({ 'if-none-match': '"1"' });
    serve(kevCatalogue(2, kevRows(29)), { etag: '"2"' });
    expect(await pull()).toMatchObject({ retracted: 0, unchanged: 29 });
    expect(await pull()).toMatchObject({ retracted: 1, unchanged: 29 });
    answer = { status: 404, body: '' };
    expect(await pull()).toMatchObject({ added: 0, retracted: 0, error: expect.stringMatching(/status 404/) });
    const held = (await mine.call('GET', `/api/feed/sources/${source.id}`)).body;
    expect(held).toMatchObject({
      failures: 1,
      lastSuccessAt: now.toISOString(),
      lastResult: { error: held.lastError },
      nextPullAt: null,
    });
  });

  test('takes the modification time of a file as the time an indicator was seen', async () => {
    const path = join(open, 'block.txt');
    writeFileSync(path, '198.51.101.77\n');
    utimesSync(path, new Date('2025-02-20T00:00:00Z'), new Date('2025-02-20T00:00:00Z'));
    const mine = await app.newOrg();
    const made = await mine.call('POST', '/api/feed/sources', input({ kind: 'csv', url: pathToFileURL(path).href }));
    await mine.call('POST', `/api/feed/sources/${made.body.id}/pull`);
    const [item] = (await mine.call('GET', '/items')).body.items;
    expect(item.iocs.ipv4).toMatchObject([{ status: 'active', lastSeen: '2025-02-20T00:00:00.000Z' }]);
  });

  test('returns 409 while another pull is in progress', async () => {
    const { body: source } = await org.call('POST', '/api/feed/sources', input());
    serve(kevCatalogue(1, [kevRow(1)]), { delayMs: 150 });
    const pulls = await Promise.all([1, 2, 3].map(() => org.call('POST', `/api/feed/sources/${source.id}/pull`)));
    expect(pulls.map(({ status }) => status).toSorted()).toEqual([200, 409, 409]);
    expect((await org.call('POST', `/api/feed/sources/${source.id}/pull`)).status).toBe(200);
  });

  test('does not fetch a private address that is not allowed', async () => {
    const url = 'http://169.254.169.254/kev.json';
    const { body: source } = await org.call('POST', '/api/feed/sources', input({ url }));
    expect((await org.call('POST', `/api/feed/sources/${source.id}/pull`)).body.error).toMatch(/not a public address/);
  });
});

describe('the loop', () => {
  const pullAllDue = async (): Promise<void> => {
    for (let pulls = 0; pulls < 100 && (await pullNextDue(app.deps)); pulls += 1) expect(pulls).toBeLessThan(99);
  };

  test('first pulls at the first slot, backs off after failures, and does not delay other sources', async () => {
    const mine = await app.newOrg();
    now = new Date('2025-03-02T10:20:00.000Z');
    await pullAllDue();
    const create = async (more: object) =>
      (await mine.call('POST', '/api/feed/sources', input({ schedule: '0 * * * *', ...more }))).body;
    const bad = await create({ name: 'bad', url: 'http://127.0.0.1:1/kev.json' });
    const good = await create({ name: 'good' });
    const look = async (id: string) => (await mine.call('GET', `/api/feed/sources/${id}`)).body;
    serve(kevCatalogue(1, kevRows(3)));
    now = new Date('2025-03-02T10:59:59.000Z');
    expect(await pullNextDue(app.deps)).toBe(false);
    now = new Date('2025-03-02T11:00:00.000Z');
    await pullAllDue();
    const pulled = { lastSuccessAt: now.toISOString(), nextPullAt: '2025-03-02T12:00:00.000Z' };
    expect(await look(good.id)).toMatchObject(pulled);
    expect((await mine.call('GET', '/items')).body.total).toBe(3);
    const waits: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      const { nextPullAt, failures } = await look(bad.id);
      expect(failures).toBe(round + 1);
      waits.push((Date.parse(nextPullAt) - now.getTime()) / 3_600_000);
      now = new Date(nextPullAt);
      await pullAllDue();
    }
    expect(waits[0]).toBe(1);
    expect(waits).toEqual(waits.toSorted((a, b) => a - b));
    expect(waits.at(-1)).toBeGreaterThan(8);
  });

  test('waits as long as Retry-After requests', async () => {
    now = new Date('2025-03-20T10:20:00.000Z');
    await pullAllDue();
    const mine = await app.newOrg();
    const source = (await mine.call('POST', '/api/feed/sources', input({ schedule: '30 * * * *' }))).body;
    answer = { status: 429, body: '', retryAfter: String(5 * 3_600) };
    now = new Date('2025-03-20T10:30:00.000Z');
    await pullAllDue();
    const { nextPullAt, failures } = (await mine.call('GET', `/api/feed/sources/${source.id}`)).body;
    // Five hours after the response is half past the hour, so the next slot follows.
    expect([failures, nextPullAt]).toEqual([1, '2025-03-20T16:30:00.000Z']);
  });

  test('lets only one of several workers claim a due source', async () => {
    now = new Date('2025-04-01T10:20:00.000Z');
    await pullAllDue();
    const mine = await app.newOrg();
    const source = (await mine.call('POST', '/api/feed/sources', input({ schedule: '30 * * * *' }))).body;
    now = new Date('2025-04-01T10:30:00.000Z');
    const claims = await Promise.all(
      ['a', 'b', 'c', 'd'].map((worker) => claimDueSourceAcrossOrgs(app.deps.db, now, worker)),
    );
    expect(claims.filter((claim) => claim?.id === source.id)).toHaveLength(1);
    expect((await mine.call('POST', `/api/feed/sources/${source.id}/pull`)).status).toBe(409);
  });
});
