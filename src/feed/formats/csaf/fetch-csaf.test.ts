import { beforeEach, expect, test } from 'vitest';
import { csafAdvisory } from '../../../../test/support/feed/csaf-documents.ts';
import { serverOfTests } from '../../../../test/support/feed/source-server.ts';
import { createFetchSession, type FetchSessionResult } from '../fetch-session.ts';
import { csaf } from './csaf.ts';

const server = await serverOfTests();

beforeEach(() => {
  for (const id of ['a', 'b']) server.document(`/2024/${id}.json`, JSON.stringify(csafAdvisory(`ACME-${id}`)));
});
const collect = (path: string, cursor?: unknown): Promise<FetchSessionResult> =>
  csaf.fetch!(
    createFetchSession({
      url: `${server.base}${path}`,
      cursor,
      now: new Date(),
      allow: ['127.0.0.1'],
      digest: async (documents) => csaf.digest!(documents),
    }),
  ) as Promise<FetchSessionResult>;
const entry = (id: string) => ({
  id,
  updated: '2024-01-01T00:00:00Z',
  content: { type: 'application/json', src: `${server.base}/2024/${id}.json` },
});
const feed = (path: string, ...ids: string[]) =>
  server.document(path, JSON.stringify({ feed: { entry: ids.map(entry) } }));
const provider = (...paths: string[]) => {
  const feeds = paths.map((path) => ({ url: `${server.base}${path}` }));
  server.document('/metadata.json', JSON.stringify({ distributions: [{ rolie: { feeds } }, { directory_url: 'x' }] }));
};
const changes = (times: string[]) => times.map((time, index) => `"2024/${'ab'[index]}.json","${time}"`).join('\n');

test('fetches only documents with a changed time in changes.csv', async () => {
  server.document('/changes.csv', changes(['2024-01-02T00:00:00Z', '2024-01-01T00:00:00Z']), 'text/csv');
  const first = await collect('/changes.csv');
  expect(first.parts.map(({ url }) => url)).toEqual([`${server.base}/2024/a.json`, `${server.base}/2024/b.json`]);
  expect(csaf.parse(first.parts, { reliability: 1 }).records[0]!.textUrl).toBe(`${server.base}/2024/a.json`);
  server.document('/changes.csv', changes(['2024-01-02T00:00:00Z', '2024-01-03T00:00:00Z']), 'text/csv');
  const second = await collect('/changes.csv', first.cursor);
  expect([second.parts.map(({ url }) => url), second.unchanged]).toEqual([[`${server.base}/2024/b.json`], 1]);
});

test('follows provider-metadata.json of the domain to a directory and falls back to index.txt', async () => {
  const metadata = { canonical_url: 'x', distributions: [{ directory_url: `${server.base}/` }] };
  server.document('/.well-known/csaf/provider-metadata.json', JSON.stringify(metadata));
  server.document('/index.txt', '2024/a.json\n2024/b.json\n', 'text/plain');
  const first = await collect('/');
  expect(first.parts).toHaveLength(2);
  // The list has no times, so each document is requested conditionally.
  expect(await collect('/', first.cursor)).toMatchObject({ parts: [], unchanged: 2 });
});

test('prefers ROLIE feeds and skips a feed that cannot be read', async () => {
  feed('/white.json', 'a', 'b');
  provider('/white.json', '/gone.json');
  const { parts, skipped } = await collect('/metadata.json');
  expect(parts).toHaveLength(2);
  expect(skipped).toEqual([{ entry: `${server.base}/gone.json`, reason: expect.stringContaining('404') }]);
});

test('requests lists conditionally and preserves the state of a failing list', async () => {
  feed('/one.json', 'a');
  feed('/two.json', 'b');
  provider('/one.json', '/two.json');
  const first = await collect('/metadata.json');
  server.asked.length = 0;
  const second = await collect('/metadata.json', JSON.parse(JSON.stringify(first.cursor)));
  expect(second).toMatchObject({ parts: [], unchanged: 2, skipped: [], more: false });
  expect(server.asked.map(({ path }) => path)).toEqual(['/metadata.json', '/one.json', '/two.json']);
  expect(server.asked.every(({ headers }) => headers['if-none-match'])).toBe(true);
  server.routes.set('/two.json', (response) => void response.writeHead(500).end());
  const third = await collect('/metadata.json', second.cursor);
  expect([third.unchanged, third.skipped.length]).toEqual([2, 1]);
  server.document('/2024/c.json', JSON.stringify(csafAdvisory('ACME-c')));
  feed('/two.json', 'b', 'c');
  const fourth = await collect('/metadata.json', third.cursor);
  expect([fourth.parts.map(({ url }) => url), fourth.unchanged]).toEqual([[`${server.base}/2024/c.json`], 2]);
});

test('spreads many lists over several pulls without losing state', async () => {
  const ids = Array.from({ length: 120 }, (_, n) => `n${n}`);
  for (const id of ids) {
    server.document(`/2024/${id}.json`, JSON.stringify(csafAdvisory(id)));
    if (id !== 'n3') feed(`/${id}.json`, id);
  }
  provider(...ids.map((id) => `/${id}.json`));
  const pulls: FetchSessionResult[] = [];
  for (let pull = 0; pull < 6; pull += 1)
    pulls.push(await collect('/metadata.json', JSON.parse(JSON.stringify(pulls.at(-1)?.cursor ?? null))));
  expect(pulls.map(({ parts, more }) => [parts.length, more])).toEqual([
    [49, true],
    [50, true],
    [20, false],
    [0, true],
    [0, true],
    [0, false],
  ]);
  expect(pulls.map(({ skipped }) => skipped.length)).toEqual([1, 0, 0, 1, 0, 0]);
  expect(pulls.at(-1)!.unchanged).toBe(119);
});

test('accepts a list of 60,000 documents and skips a second list beyond the limit', async () => {
  const many = (name: string) =>
    Array.from({ length: 60_000 }, (_, n) => `${name}-${n}.json,2024-01-01T00:00:00Z`).join('\n');
  for (const name of ['x', 'y']) server.document(`/${name}/changes.csv`, many(name), 'text/csv');
  const distributions = ['x', 'y'].map((name) => ({ directory_url: `${server.base}/${name}/` }));
  server.document('/metadata.json', JSON.stringify({ distributions }));
  const seen = Object.fromEntries(
    many('x')
      .split('\n')
      .map((row) => [`${server.base}/x/${row.split(',')[0]}`, '2024-01-01T00:00:00.000Z']),
  );
  const { unchanged, skipped } = await collect('/metadata.json', { seen });
  expect([unchanged, skipped]).toEqual([
    60_000,
    [{ entry: `${server.base}/y/`, reason: expect.stringContaining('more than 100000') }],
  ]);
});

test('does not fall back to index.txt if changes.csv fails temporarily', async () => {
  server.document('/metadata.json', JSON.stringify({ distributions: [{ directory_url: `${server.base}/` }] }));
  server.routes.set('/changes.csv', (response) => void response.writeHead(500).end());
  server.document('/index.txt', '2024/a.json\n', 'text/plain');
  await expect(collect('/metadata.json')).rejects.toThrow('status 500');
});

test('fetches a single document and handles 304', async () => {
  const first = await collect('/2024/a.json');
  expect(first.parts).toHaveLength(1);
  expect(await collect('/2024/a.json', first.cursor)).toMatchObject({ parts: [], unchanged: 1 });
});

test.each([
  ['something else', '{"a":1}', /neither a CSAF/],
  ['no list', 'hello', /neither a CSAF/],
  ['cut off', '{"document":', /not valid JSON/],
  ['nothing to read', '{"distributions":[]}', /no feed and no directory/],
  ['an inner address', '{"distributions":[{"directory_url":"http://169.254.169.254/"}]}', /not a public address/],
  ['a file', '{"distributions":[{"rolie":{"feeds":[{"url":"file:///etc/passwd"}]}}]}', /not supported/],
])('rejects %s', async (_name, body, reason) => {
  server.document('/x.json', body);
  await expect(collect('/x.json')).rejects.toThrow(reason);
});
