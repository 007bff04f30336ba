import { beforeEach, describe, expect, test } from 'vitest';
import { createFetchSession, type FetchBounds, type FetchSessionResult, type DigestInput } from '../fetch-session.ts';
import { serverOfTests, type RecordedRequest, type Route } from '../../../../test/support/feed/source-server.ts';
import { taxii } from './taxii.ts';

type StoredObject = { object: Record<string, unknown>; added: string };
const id = (type: string, n: number): string => `${type}--00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const indicator = (n: number, more: object = {}) => ({
  type: 'indicator',
  spec_version: '2.1',
  id: id('indicator', n),
  created: '2024-01-01T00:00:00.000Z',
  modified: '2024-01-01T00:00:00.000Z',
  name: `Indicator ${n}`,
  pattern_type: 'stix',
  pattern: `[domain-name:value = 'd${n}.example']`,
  valid_from: '2024-01-01T00:00:00Z',
  ...more,
});
const report = (refs: string[], more: object = {}) => ({
  type: 'report',
  spec_version: '2.1',
  id: id('report', 1),
  created: '2024-01-01T00:00:00.000Z',
  modified: '2024-01-01T00:00:00.000Z',
  name: 'A report',
  published: '2024-01-01T00:00:00Z',
  object_refs: refs,
  ...more,
});

const server = await serverOfTests();
let held: StoredObject[] = [];
/** Whether the server returns `next` or only the date of the last object. */
let returnsNext = true;
const path = '/api1/collections/c1/objects/';
const minute = (n: number): string => new Date(Date.UTC(2024, 5, 1, 0, n)).toISOString();
const put = (objects: object[], at: number): void =>
  objects.forEach((object) => void held.push({ object: object as Record<string, unknown>, added: minute(at) }));

/** A TAXII 2.1 collection with pages of two objects. */
const objects: Route = (response, { query, headers }: RecordedRequest) => {
  if (headers.accept !== 'application/taxii+json;version=2.1') return void response.writeHead(406).end();
  if (headers.authorization !== `Basic ${Buffer.from('me:secret').toString('base64')}`)
    return void response.writeHead(401).end();
  const after = query.get('added_after');
  const all = held.filter(({ added }) => after === null || added > after);
  const start = Number(query.get('next') ?? 0);
  const page = all.slice(start, start + 2);
  const more = start + 2 < all.length;
  response.setHeader('content-type', 'application/taxii+json;version=2.1');
  if (page.length > 0) response.setHeader('x-taxii-date-added-last', page.at(-1)!.added);
  response.end(
    JSON.stringify({
      ...(more ? { more, ...(returnsNext ? { next: String(start + 2) } : {}) } : {}),
      ...(page.length > 0 ? { objects: page.map(({ object }) => object) } : {}),
    }),
  );
};

beforeEach(() => {
  held = [];
  returnsNext = true;
  server.routes.set(path, objects);
});

const collect = (
  at = path,
  cursor?: unknown,
  bounds: Partial<FetchBounds> = {},
  digest: (documents: DigestInput[]) => unknown = (documents) => taxii.digest!(documents),
): Promise<FetchSessionResult> =>
  taxii.fetch!(
    createFetchSession({
      url: `${server.base}${at}`,
      cursor: cursor === undefined ? undefined : JSON.parse(JSON.stringify(cursor)),
      now: new Date('2024-06-02T00:00:00Z'),
      allow: ['127.0.0.1'],
      digest: async (documents) => digest(documents),
      headers: { authorization: `Basic ${Buffer.from('me:secret').toString('base64')}` },
      bounds,
    }),
  ) as Promise<FetchSessionResult>;
const titles = ({ parts }: FetchSessionResult): string[] =>
  parts.length === 0
    ? []
    : taxii
        .parse(parts, { reliability: 0.6 })
        .records.map(({ title }) => title)
        .toSorted();

describe('a collection', () => {
  test('fetches all pages, then additions, and ignores repeated objects of the overlap', async () => {
    put([indicator(1), indicator(2), indicator(3)], 0);
    const first = await collect();
    expect(titles(first)).toEqual(['Indicator 1', 'Indicator 2', 'Indicator 3']);
    const again = await collect(path, first.cursor);
    const third = await collect(path, again.cursor);
    expect(titles(third)).toEqual([]);
    put([indicator(4)], 60);
    const fourth = await collect(path, third.cursor);
    // The overlap contains the others, which are known.
    expect(titles(fourth)).toContain('Indicator 4');
    put([indicator(5)], 120);
    expect(titles(await collect(path, fourth.cursor))).not.toContain('Indicator 1');
  });

  test('parses every page once', async () => {
    put(
      Array.from({ length: 5 }, (_, n) => indicator(n)),
      0,
    );
    let digested = 0;
    const found = await collect(path, undefined, {}, (documents) => {
      digested += documents.length;
      return taxii.digest!(documents);
    });
    expect([titles(found).length, digested, server.asked.length]).toEqual([5, 3, 3]);
  });

  test.each([
    ['all of it', 0],
    ['its end', 60],
  ])('does not read a collection again whose overlap is %s', async (_, at) => {
    put([indicator(1), indicator(2), indicator(3)], 0);
    put([report([id('indicator', 1), id('indicator', 3)])], at);
    const first = await collect();
    const requests = server.asked.length;
    const second = await collect(path, first.cursor);
    expect([titles(second), (await collect(path, second.cursor)).parts]).toEqual([[], []]);
    expect(server.asked.slice(requests).every(({ query }) => query.has('added_after'))).toBe(true);
    put([indicator(3, { modified: '2024-06-01T00:00:00.000Z', revoked: true })], at);
    expect(titles(await collect(path, second.cursor))).toContain('A report');
  });

  test('finds an object added late within the overlap', async () => {
    put([indicator(1)], 30);
    const first = await collect();
    put([indicator(2)], 25);
    expect(titles(await collect(path, first.cursor))).toEqual(['Indicator 1', 'Indicator 2']);
  });

  test('rereads the collection if a new object refers to an old one', async () => {
    put([indicator(1), indicator(2)], 0);
    const first = await collect();
    put([report([id('indicator', 1), id('indicator', 3)]), indicator(3)], 60);
    const second = await collect(path, first.cursor);
    const { records } = taxii.parse(second.parts, { reliability: 0.6 });
    const made = records.find(({ title }) => title === 'A report')!;
    expect(made.iocs.domains.map(({ value }) => value)).toEqual(['d1.example', 'd3.example']);
  });

  test('applies a revoked indicator to its report and its own item', async () => {
    put([report([id('indicator', 1)]), indicator(1), indicator(2)], 0);
    const first = await collect();
    const newer = { modified: '2024-06-01T00:00:00.000Z', revoked: true };
    put([indicator(1, newer), indicator(2, newer)], 60);
    const { records } = taxii.parse((await collect(path, first.cursor)).parts, { reliability: 0.6 });
    const made = records.find(({ title }) => title === 'A report')!;
    expect(made.iocs.domains[0]!.status).toBe('revoked');
    expect(records.find(({ title }) => title === 'Indicator 2')!.withdrawn).toBe(true);
  });

  test('continues where the bounds cut the last pull', async () => {
    put(
      Array.from({ length: 7 }, (_, n) => indicator(n)),
      0,
    );
    const first = await collect(path, undefined, { documentsMax: 2 });
    expect([titles(first).length, first.more]).toEqual([4, true]);
    const second = await collect(path, first.cursor, { documentsMax: 2 });
    expect([titles(second), second.more]).toEqual([['Indicator 4', 'Indicator 5', 'Indicator 6'], false]);
  });

  test('continues by date if the server returns no `next`', async () => {
    returnsNext = false;
    for (let n = 0; n < 5; n += 1) put([indicator(n)], n);
    const first = await collect(path, undefined, { documentsMax: 1 });
    expect([titles(first), first.more]).toEqual([['Indicator 0', 'Indicator 1'], true]);
    const second = await collect(path, first.cursor);
    expect([titles(second), second.more]).toEqual([['Indicator 2', 'Indicator 3', 'Indicator 4'], false]);
    expect(server.asked.map(({ query }) => query.get('added_after'))).toEqual([null, minute(1), minute(3)]);
  });

  test('rejects dates that do not advance', async () => {
    server.routes.set(path, (response) => {
      response.setHeader('content-type', 'application/taxii+json;version=2.1');
      response.setHeader('x-taxii-date-added-last', minute(0)).end(JSON.stringify({ more: true, objects: [] }));
    });
    await expect(collect()).rejects.toThrow(/without a next page/);
    expect(server.asked).toHaveLength(2);
  });

  test('restarts a list if the server forgot its `next` value', async () => {
    put(
      Array.from({ length: 5 }, (_, n) => indicator(n)),
      0,
    );
    const first = await collect(path, undefined, { documentsMax: 1 });
    // The `next` value of the first pull is no longer valid.
    server.routes.set(path, (response, asked) => {
      if (server.asked.length === 2) response.writeHead(400).end();
      else objects(response, asked);
    });
    const second = await collect(path, first.cursor);
    expect([first.more, server.asked[1]!.query.get('next')]).toEqual([true, '2']);
    expect([titles(second).length, second.more]).toEqual([5, false]);
  });

  test('keeps what the first pulls read before a page failed, and continues there', async () => {
    put(
      Array.from({ length: 7 }, (_, n) => indicator(n)),
      0,
    );
    let isBroken = true;
    server.routes.set(path, (response, asked) => {
      if (isBroken && asked.query.get('next') === '4') response.writeHead(500).end();
      else objects(response, asked);
    });
    const first = await collect();
    expect([titles(first).length, first.more]).toEqual([4, true]);
    expect(first.skipped).toEqual([{ entry: server.base + path, reason: expect.stringContaining('status 500') }]);
    await expect(collect(path, first.cursor)).rejects.toThrow('status 500');
    isBroken = false;
    const second = await collect(path, first.cursor);
    expect([titles(second), second.more]).toEqual([['Indicator 4', 'Indicator 5', 'Indicator 6'], false]);
    expect(server.asked.filter(({ query }) => !query.has('next'))).toHaveLength(1);
  });

  test('keeps nothing if a list that must be complete fails', async () => {
    put([indicator(1), indicator(2)], 0);
    put([indicator(3)], 30);
    const first = await collect();
    put([report([id('indicator', 1), id('indicator', 4)]), indicator(4)], 60);
    server.routes.set(path, (response, asked) => {
      if (!asked.query.has('added_after') && asked.query.has('next')) response.writeHead(500).end();
      else objects(response, asked);
    });
    await expect(collect(path, first.cursor)).rejects.toThrow('status 500');
  });

  test('accepts an empty collection', async () => {
    expect(await collect()).toMatchObject({ parts: [], skipped: [], more: false });
  });

  test.each([
    ['another type', 'text/html', '<html>', /not a TAXII response/],
    ['no envelope', 'application/taxii+json;version=2.1', '{"objects":1}', /not a TAXII envelope/],
    ['cut off', 'application/taxii+json;version=2.1', '{"obj', /not valid JSON/],
    ['more without where', 'application/taxii+json;version=2.1', '{"more":true}', /without a next page/],
    [
      'deep',
      'application/json',
      `{"objects":[${'['.repeat(5_000)}${']'.repeat(5_000)}],"more":true}`,
      /nested too deep/,
    ],
  ])('rejects a response: %s', async (_name, type, body, reason) => {
    server.routes.set(path, (response) => void response.setHeader('content-type', type).end(body));
    await expect(collect()).rejects.toThrow(reason);
  });
});

test('follows discovery and API roots to readable collections and skips a failing one', async () => {
  const json =
    (body: object): Route =>
    (response) =>
      void response.setHeader('content-type', 'application/taxii+json;version=2.1').end(JSON.stringify(body));
  server.routes.set('/taxii2/', json({ title: 'x', api_roots: [`${server.base}/api1/`] }));
  server.routes.set(
    '/api1/collections/',
    json({
      collections: [
        { id: 'c1', can_read: true },
        { id: 'closed', can_read: false },
        { id: 'gone', can_read: true },
      ],
    }),
  );
  put([indicator(1)], 0);
  const found = await collect('/taxii2/');
  expect(titles(found)).toEqual(['Indicator 1']);
  expect(found.skipped).toEqual([
    { entry: `${server.base}/api1/collections/gone/objects/`, reason: expect.stringContaining('404') },
  ]);
});
