import { expect, test } from 'vitest';
import { createFetchSession, type FetchSessionResult } from '../fetch-session.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { rss } from './rss.ts';

const server = await serverOfTests();

const now = new Date('2026-03-02T00:00:00Z');
const collect = (cursor?: unknown): Promise<FetchSessionResult> =>
  rss.fetch!(
    createFetchSession({
      url: `${server.base}/feed`,
      cursor,
      now,
      allow: ['127.0.0.1', 'localhost'],
      digest: async (documents) => rss.digest!(documents),
    }),
  ) as Promise<FetchSessionResult>;
const publish = (links: string[]): void => {
  const items = links.map((url) => ({ id: url, url, title: url, content_text: 'What the feed says.' }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
};
const links = (count: number, base = server.base): string[] => Array.from({ length: count }, (_, n) => `${base}/p${n}`);

test.each([
  ['fails', 500, {}],
  ['asks for patience', 429, { 'retry-after': '3600' }],
])('stops requesting pages of a host that %s and reads the entries from the feed', async (_name, status, headers) => {
  for (const { pathname } of links(30).map((link) => new URL(link)))
    server.routes.set(pathname, (response) => void response.writeHead(status, headers).end());
  const elsewhere = `${server.base.replace('127.0.0.1', 'localhost')}/good`;
  server.document('/good', '<p>Text</p>', 'text/html');
  publish([...links(30), elsewhere]);
  const { parts, skipped, more } = await collect();
  expect([parts.length, skipped, more]).toEqual([31, [], false]);
  expect(parts.filter(({ bytes }) => bytes.length > 0).map(({ name }) => name)).toEqual([elsewhere]);
  expect(server.asked.filter(({ path }) => path.startsWith('/p')).length).toBeLessThan(10);
});

test('requests all pages of a host although some are missing', async () => {
  publish(links(20));
  const { parts } = await collect();
  expect([parts.length, server.asked.length]).toEqual([20, 21]);
});

test('reads a feed of 18 MB and 450 entries in batches, and every entry once', async () => {
  const items = Array.from({ length: 450 }, (_, n) => ({
    id: `e${n}`,
    title: `T${n}`,
    content_text: 'x'.repeat(40_000),
  }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
  const pulls: FetchSessionResult[] = [];
  for (let pull = 0; pull < 4; pull += 1)
    pulls.push(await collect(JSON.parse(JSON.stringify(pulls.at(-1)?.cursor ?? {}))));
  expect(pulls.map(({ parts, unchanged, more }) => [parts.length, unchanged, more])).toEqual([
    [200, 0, true],
    [200, 200, true],
    [50, 400, false],
    [0, 450, false],
  ]);
  expect(new Set(pulls.flatMap(({ parts }) => parts.map(({ name }) => name))).size).toBe(450);
});

test('downloads a feed once for several batches, and again an hour later', async () => {
  const items = Array.from({ length: 450 }, (_, n) => ({ id: `e${n}`, title: `T${n}`, content_text: `Text ${n}` }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
  const first = await collect();
  const second = await collect(first.cursor);
  const third = await collect(second.cursor);
  const pulls = [first, second, third];
  expect(pulls.map(({ parts, unchanged, more }) => [parts.length, unchanged, more])).toEqual([
    [200, 0, true],
    [200, 200, true],
    [50, 400, false],
  ]);
  expect(new Set(pulls.flatMap(({ parts }) => parts.map(({ name }) => name))).size).toBe(450);
  expect(server.asked).toHaveLength(1);
  expect(await collect(third.cursor)).toMatchObject({ parts: [], unchanged: 450, more: false });
  const old = first.cursor as { kept: { downloadedAt: string } };
  const kept = { ...old.kept, downloadedAt: '2020-01-01T00:00:00Z' };
  expect((await collect({ ...old, kept })).parts).toHaveLength(200);
  expect(server.asked).toHaveLength(3);
});

test('reads the texts of a feed of 40 MB from the feed itself', async () => {
  const items = links(1_000).map((url) => ({ id: url, url, title: url, content_text: 'x'.repeat(40_000) }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
  const { parts, skipped, more } = await collect();
  // A batch has 16 million characters.
  expect([parts.length, skipped, more]).toEqual([400, [], true]);
  expect(server.asked).toHaveLength(1);
});

test('retries entries whose page fails after the others, and does not follow soon for them alone', async () => {
  const items = links(230).map((url) => ({ id: url, url, title: url }));
  server.document('/feed', JSON.stringify({ version: 'https://jsonfeed.org/version/1.1', items }));
  for (const [index, { pathname }] of links(230)
    .map((link) => new URL(link))
    .entries())
    if (index < 210) server.routes.set(pathname, (response) => void response.writeHead(404).end());
    else server.document(pathname, '<p>Text</p>', 'text/html');
  const first = await collect();
  expect([first.parts.length, first.skipped.length, first.more]).toEqual([0, 200, true]);
  const second = await collect(first.cursor);
  expect([second.parts.length, second.skipped.length, second.more]).toEqual([20, 10, false]);
  server.document('/p0', '<p>Text</p>', 'text/html');
  const later = [await collect(second.cursor)];
  later.push(await collect(later[0]!.cursor));
  expect(later.flatMap(({ parts }) => parts.map(({ name }) => name))).toEqual([`${server.base}/p0`]);
});

test('reads a feed of 3,000 entries from a file', () => {
  const item = (n: number): string => `<item><title>T${n}</title><description>Text ${n}</description></item>`;
  const items = Array.from({ length: 3_000 }, (_, n) => item(n)).join('');
  const part = { name: 'a.xml', bytes: Buffer.from(`<rss><channel>${items}</channel></rss>`) };
  const { texts, skipped } = rss.parse([part], { reliability: 0.6 });
  expect([texts!.length, texts!.at(-1)!.title, skipped]).toEqual([3_000, 'T2999', []]);
});

test('reads the newest of several entries with one id in the feeds of a directory, and skips what is no feed', () => {
  const feed = (name: string, updated: string, title = 'A report') => ({
    name,
    bytes: Buffer.from(
      `<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>urn:a</id><title>${title}</title><updated>${updated}</updated></entry></feed>`,
    ),
  });
  const day = '2026-03-01T00:00:00Z';
  const page = { name: 'page.xml', bytes: Buffer.from('<html><body>No feed</body></html>') };
  const { texts, skipped } = rss.parse(
    [feed('1.xml', day), feed('2.xml', '2026-03-02T00:00:00Z', 'Its update'), page, feed('3.xml', day, 'Older')],
    { reliability: 0.6 },
  );
  expect(texts).toMatchObject([{ recordId: 'urn:a', title: 'Its update' }]);
  expect(skipped.map(({ entry }) => entry)).toEqual(['page.xml']);
  expect(rss.parse([feed('1.xml', day), feed('2.xml', day, 'Another')], { reliability: 0.6 }).skipped).toEqual([
    { entry: 'urn:a', reason: 'another entry of the directory has the same id and time' },
  ]);
  expect(() => rss.parse([page], { reliability: 0.6 })).toThrow('not an RSS');
});
