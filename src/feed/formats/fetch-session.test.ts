import { describe, expect, test } from 'vitest';
import { fetchEntries, fetchList, type IndexEntry } from './fetch-entries.ts';
import { createFetchSession, type FetchBounds, type FetchSession } from './fetch-session.ts';
import { serverOfTests } from '../../../test/support/feed/source-server.ts';

const server = await serverOfTests();

const context = (cursor?: unknown, bounds: Partial<FetchBounds> = {}, url = server.base) =>
  createFetchSession({
    url,
    cursor,
    now: new Date(),
    allow: ['127.0.0.1', 'localhost'],
    digest: async () => undefined,
    headers: { 'x-key': 'k' },
    bounds,
  });
const entries = (count: number, version?: string) =>
  Array.from({ length: count }, (_, index) => ({ id: `d${index}`, url: `${server.base}/d${index}`, version }));
const read = (from: FetchSession, list: IndexEntry[]) => fetchEntries(from, { entries: list, lists: {} });
const serveAll = (count: number, text = 'x'): void => {
  for (const { id } of entries(count)) server.document(`/${id}`, `${text} ${id}`);
};

describe('fetch session', () => {
  test('retries after the requested delay and gives up if the delay is too long', async () => {
    let busy = 2;
    server.routes.set('/busy', (response) => {
      busy -= 1;
      if (busy >= 0) response.writeHead(429, { 'retry-after': '1' }).end();
      else response.end('done');
    });
    // A lower limit, to which load only adds.
    const began = performance.now();
    expect((await context().fetch(`${server.base}/busy`))!.bytes.toString()).toBe('done');
    expect(performance.now() - began).toBeGreaterThan(1_900);
    server.routes.set('/closed', (response) => void response.writeHead(503, { 'retry-after': '3600' }).end());
    await expect(context().fetch(`${server.base}/closed`)).rejects.toThrow('status 503');
  });

  test('sends the credential only to the origin of the source', async () => {
    serveAll(1);
    await context().fetch(`${server.base}/d0`);
    await context({}, {}, 'http://localhost:1/feed').fetch(`${server.base}/d0`);
    expect(server.asked.map(({ headers }) => headers['x-key'])).toEqual(['k', undefined]);
  });

  test('limits documents, bytes and time', async () => {
    serveAll(3);
    for (const bounds of [{ documentsMax: 1 }, { bytesMax: 1 }, { timeMaxMs: 0 }]) {
      const bounded = context(undefined, bounds);
      await bounded.fetch(`${server.base}/d0`).catch(() => undefined);
      expect(bounded.hasRoom()).toBe(false);
      await expect(bounded.fetch(`${server.base}/d1`)).rejects.toThrow('bounds of one pull');
    }
  });

  test('fetches in the last minute of a pull', async () => {
    serveAll(1);
    const late = context(undefined, { timeMaxMs: 10_000 });
    expect((await late.fetch(`${server.base}/d0`))!.bytes.toString()).toBe('x d0');
  });

  test('rejects private addresses and other schemes', async () => {
    for (const url of ['http://10.0.0.1/', 'file:///etc/passwd', 'nonsense'])
      await expect(context().fetch(url)).rejects.toThrow(/not a public|not supported|invalid address/);
  });
});

describe('documents of an index', () => {
  test('fetches only new and changed documents', async () => {
    serveAll(3);
    const first = await read(context(), entries(3, '1'));
    expect(first.parts.map(({ name, bytes }) => [name, bytes.toString()])).toEqual([
      ['d0', 'x d0'],
      ['d1', 'x d1'],
      ['d2', 'x d2'],
    ]);
    expect(first).toMatchObject({ unchanged: 0, skipped: [], more: false });
    const marks = entries(4, '1').with(1, { id: 'd1', url: `${server.base}/d1`, version: '2' });
    server.document('/d3', 'x d3');
    const second = await read(context(JSON.parse(JSON.stringify(first.cursor))), marks);
    expect([second.parts.map(({ name }) => name), second.unchanged]).toEqual([['d1', 'd3'], 2]);
  });

  test('sends conditional requests for entries without a version and ignores equal bytes', async () => {
    serveAll(1);
    server.routes.set('/d1', (response) => void response.end('no validators'));
    const first = await read(context(), entries(2));
    const second = await read(context(first.cursor), entries(2));
    expect([second.parts, second.unchanged]).toEqual([[], 2]);
    expect(server.asked.filter(({ headers }) => headers['if-none-match'])).toHaveLength(1);
    server.document('/d0', 'another text');
    expect((await read(context(second.cursor), entries(2))).parts.map(({ name }) => name)).toEqual(['d0']);
  });

  test('skips and retries a failing entry, and fails the pull if nothing can be read', async () => {
    serveAll(3);
    server.routes.delete('/d1');
    const first = await read(context(), entries(3, '1'));
    expect(first.skipped).toEqual([{ entry: 'd1', reason: expect.stringContaining('status 404') }]);
    serveAll(3);
    const second = await read(context(first.cursor), entries(3, '1'));
    expect([second.parts.map(({ name }) => name), second.unchanged]).toEqual([['d1'], 2]);
    server.routes.clear();
    await expect(read(context(), entries(3, '1'))).rejects.toThrow('status 404');
  });

  test('continues in the next pulls and stops requesting a failing server', async () => {
    serveAll(10);
    let cursor: unknown;
    const names: string[] = [];
    for (let pull = 0; pull < 4; pull += 1) {
      const found = await read(context(cursor, { documentsMax: 4 }), entries(10, '1'));
      names.push(...found.parts.map(({ name }) => name));
      cursor = found.cursor;
      expect(found.more).toBe(pull < 2);
    }
    expect(names).toHaveLength(10);
    for (const { id } of entries(100)) server.routes.set(`/${id}`, (response) => void response.writeHead(500).end());
    server.document('/d0', 'x');
    server.asked.length = 0;
    const failing = await read(context(), entries(100, '1'));
    // The next pull waits for the regular slot.
    expect(failing.more).toBe(false);
    expect(server.asked.length).toBeLessThan(15);
  });

  test('reads the other documents if some are missing, and tries the missing ones last', async () => {
    serveAll(30);
    for (const { id } of entries(20)) server.routes.delete(`/${id}`);
    const first = await read(context(), entries(30, '1'));
    expect([first.parts.length, first.skipped.length]).toEqual([10, 20]);
    serveAll(31);
    const second = await read(context(first.cursor, { documentsMax: 4 }), entries(31, '1'));
    expect([second.parts[0]!.name, second.parts.length, second.unchanged]).toEqual(['d30', 4, 10]);
  });

  test('uses If-Modified-Since if the server has no ETag', async () => {
    const date = 'Mon, 01 Jan 2024 00:00:00 GMT';
    server.routes.set('/d0', (response, { headers }) => {
      if (headers['if-modified-since'] === date) response.writeHead(304).end();
      else response.setHeader('last-modified', date).end('x');
    });
    const { cursor } = await read(context(), entries(1));
    expect(await read(context(cursor), entries(1))).toMatchObject({ parts: [], unchanged: 1 });
    expect(server.asked.at(-1)!.headers['if-modified-since']).toBe(date);
  });

  test('requests a list conditionally only after all its documents were read', async () => {
    serveAll(3);
    server.document('/list', 'd0 d1 d2');
    server.routes.set('/d1', (response) => void response.writeHead(500).end());
    const url = `${server.base}/list`;
    let cursor: unknown;
    const pull = async (bounds: Partial<FetchBounds> = {}) => {
      const from = context(cursor, bounds);
      const list = await fetchList(from, url, {});
      const found = await fetchEntries(from, { entries: list ? entries(3, '1') : [], lists: { [url]: list } });
      cursor = JSON.parse(JSON.stringify(found.cursor));
      return { read: found.parts.map(({ name }) => name), unchanged: found.unchanged, isHeld: list === undefined };
    };
    // Cut by the bounds, then with one failure, then complete.
    expect(await pull({ documentsMax: 2 })).toEqual({ read: ['d0'], unchanged: 0, isHeld: false });
    expect(await pull()).toEqual({ read: ['d2'], unchanged: 1, isHeld: false });
    serveAll(3);
    expect(await pull()).toEqual({ read: ['d1'], unchanged: 2, isHeld: false });
    expect(await pull()).toEqual({ read: [], unchanged: 3, isHeld: true });
    server.document('/list', 'changed');
    expect(await pull()).toEqual({ read: [], unchanged: 3, isHeld: false });
  });
});
