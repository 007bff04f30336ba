import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { collectEntries } from './collect-entries.ts';
import { collectContext, type CollectBounds } from './collect.ts';
import { startServer } from './test-server.ts';

let server: Awaited<ReturnType<typeof startServer>>;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());
beforeEach(() => {
  server.routes.clear();
  server.asked.length = 0;
});

const context = (cursor?: unknown, bounds: Partial<CollectBounds> = {}, url = server.base) =>
  collectContext({
    url,
    cursor,
    now: new Date(),
    allow: ['127.0.0.1', 'localhost'],
    digest: async () => undefined,
    headers: { 'x-key': 'k' },
    bounds,
  });
const entries = (count: number, mark?: string) =>
  Array.from({ length: count }, (_, index) => ({ id: `d${index}`, url: `${server.base}/d${index}`, mark }));
const serveAll = (count: number, text = 'x'): void => {
  for (const { id } of entries(count)) server.document(`/${id}`, `${text} ${id}`);
};

describe('the fetch of a pull', () => {
  test('waits as long as it is asked to, and gives up after some tries or when asked for too much', async () => {
    let busy = 2;
    server.routes.set('/busy', (response) => {
      busy -= 1;
      if (busy >= 0) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.end('done');
    });
    const began = performance.now();
    expect((await context().fetch(`${server.base}/busy`))!.bytes.toString()).toBe('done');
    expect(performance.now() - began).toBeGreaterThan(1_900);
    server.routes.set('/closed', (response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    await expect(context().fetch(`${server.base}/closed`)).rejects.toThrow('status 503');
  });

  test('a credential goes to the origin of the source alone', async () => {
    serveAll(1);
    await context().fetch(`${server.base}/d0`);
    await context({}, {}, 'http://localhost:1/feed').fetch(`${server.base}/d0`);
    expect(server.asked.map(({ headers }) => headers['x-key'])).toEqual(['k', undefined]);
  });

  test('documents, bytes and time are bounded', async () => {
    serveAll(3);
    for (const bounds of [{ documentsMax: 1 }, { bytesMax: 1 }, { timeMaxMs: 0 }]) {
      const bounded = context(undefined, bounds);
      await bounded.fetch(`${server.base}/d0`).catch(() => undefined);
      expect(bounded.hasRoom()).toBe(false);
      await expect(bounded.fetch(`${server.base}/d1`)).rejects.toThrow('bounds of one pull');
    }
  });

  test('private addresses and other schemes are not fetched', async () => {
    for (const url of ['http://10.0.0.1/', 'file:///etc/passwd', 'nonsense'])
      await expect(context().fetch(url)).rejects.toThrow(/not a public|not fetched|is none/);
  });
});

describe('the documents of an index', () => {
  test('only what is new or has another state is read', async () => {
    serveAll(3);
    const first = await collectEntries(context(), entries(3, '1'));
    expect(first.parts.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([
      ['d0', 'x d0'],
      ['d1', 'x d1'],
      ['d2', 'x d2'],
    ]);
    expect(first).toMatchObject({ unchanged: 0, skipped: [], more: false });
    const marks = entries(4, '1').with(1, { id: 'd1', url: `${server.base}/d1`, mark: '2' });
    server.document('/d3', 'x d3');
    const second = await collectEntries(context(JSON.parse(JSON.stringify(first.cursor))), marks);
    expect([second.parts.map(({ name }) => name), second.unchanged]).toEqual([['d1', 'd3'], 2]);
  });

  test('without a state in the index the server is asked, and the same bytes are nothing new', async () => {
    serveAll(1);
    server.routes.set('/d1', (response) => void response.end('no validators'));
    const first = await collectEntries(context(), entries(2));
    const second = await collectEntries(context(first.cursor), entries(2));
    expect([second.parts, second.unchanged]).toEqual([[], 2]);
    expect(server.asked.filter(({ headers }) => headers['if-none-match'])).toHaveLength(1);
    server.document('/d0', 'another text');
    expect((await collectEntries(context(second.cursor), entries(2))).parts.map(({ name }) => name)).toEqual(['d0']);
  });

  test('an entry that fails is named and tried again; when nothing can be read the pull is bad', async () => {
    serveAll(3);
    server.routes.delete('/d1');
    const first = await collectEntries(context(), entries(3, '1'));
    expect(first.skipped).toEqual([{ entry: 'd1', reason: expect.stringContaining('status 404') }]);
    serveAll(3);
    const second = await collectEntries(context(first.cursor), entries(3, '1'));
    expect([second.parts.map(({ name }) => name), second.unchanged]).toEqual([['d1'], 2]);
    server.routes.clear();
    await expect(collectEntries(context(), entries(3, '1'))).rejects.toThrow('status 404');
  });

  test('what the bounds leave is read by the next pulls, and a failing server is left alone', async () => {
    serveAll(10);
    let cursor: unknown;
    const read: string[] = [];
    for (let pull = 0; pull < 4; pull += 1) {
      const found = await collectEntries(context(cursor, { documentsMax: 4 }), entries(10, '1'));
      read.push(...found.parts.map(({ name }) => name));
      cursor = found.cursor;
      expect(found.more).toBe(pull < 2);
    }
    expect(read).toHaveLength(10);
    server.routes.clear();
    server.document('/d0', 'x');
    server.asked.length = 0;
    const failing = await collectEntries(context(), entries(100, '1'));
    expect(failing.more).toBe(true);
    expect(server.asked.length).toBeLessThan(15);
  });
});
