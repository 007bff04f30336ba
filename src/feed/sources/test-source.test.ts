import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { epssScores } from '../../../test/support/feed/epss-documents.ts';
import { kevCatalogue, kevRows } from '../../../test/support/feed/kev-source.ts';
import { articlePage, rssFeed } from '../../../test/support/feed/rss-documents.ts';
import { serverOfTests } from '../../../test/support/feed/source-server.ts';
import { stixBundle } from '../../../test/support/feed/stix-documents.ts';
import { startApp } from '../../../test/support/harness.ts';
import { acrossOrgs, queryRows } from '../../platform/db/db.ts';

const server = await serverOfTests();
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const org = await app.newOrg();
const path = '/api/feed/sources/test';
const testOf = (input: object) => org.call('POST', path, input);

test('reads a feed without its pages and returns the first titles', async () => {
  const entries = Array.from({ length: 30 }, (_, index) => ({
    id: `${index}`,
    title: `Report <b>${index}</b>`,
    link: `${server.base}/page/${index}`,
    date: 'Mon, 09 Mar 2026 08:00:00 +0100',
  }));
  server.document('/feed', rssFeed([...entries, { id: '1', title: 'again' }]), 'application/rss+xml');
  server.document('/page/0', articlePage('Report', ['Text.']), 'text/html');
  const { status, body } = await testOf({ kind: 'rss', url: `${server.base}/feed` });
  expect([status, body.kind, body.items, body.more, body.error]).toEqual([200, 'rss', 30, false, undefined]);
  expect(body.samples).toHaveLength(5);
  expect(body.samples[0]).toMatchObject({ url: `${server.base}/page/0`, publishTime: '2026-03-09T07:00:00.000Z' });
  expect(body.skipped).toEqual([{ entry: '1', reason: 'occurs in the feed more than once' }]);
  expect(server.asked.map((request) => request.path)).toEqual(['/feed']);
});

test.each([
  ['kev', (): string => JSON.stringify(kevCatalogue(1, kevRows(3))), { items: 3 }],
  ['csv', (): string => 'bad-cdn.top\n198.51.101.77\n', { items: 1, indicators: 2 }],
  ['epss', (): string => epssScores('2026-03-01', ['CVE-2024-0001', 0.1, 0.2]), { items: 1, indicators: 0 }],
  ['stix', (): string => JSON.stringify(stixBundle([])), { items: 1 }],
  ['rss', (): string => '<html><body>Not a feed</body></html>', { items: 0, error: expect.any(String) }],
  ['stix', (): string => '{', { items: 0, error: expect.any(String) }],
] as const)('reads a source of kind %s', async (kind, document, expected) => {
  server.document('/document', document());
  const { status, body } = await testOf({ kind, url: `${server.base}/document` });
  expect(status).toBe(200);
  expect(body).toMatchObject(expected);
  if (!('error' in expected)) expect(body.error).toBeUndefined();
});

test('states why a source cannot be reached', async () => {
  const missing = await testOf({ kind: 'csv', url: `${server.base}/missing` });
  expect(missing.body.error).toMatch(/responded with status 404$/);
  const inside = await testOf({ kind: 'csv', url: 'http://10.0.0.1/list' });
  expect(inside.body.error).toMatch(/private|not public|address/);
  expect(inside.body.items).toBe(0);
});

test.each([
  [{}, ['/kind', '/url']],
  [{ kind: 'csv', url: 'ftp://example.com' }, ['/url']],
  [{ kind: 'csv', url: 'file:///etc/passwd' }, ['/url']],
  [{ catalogue: 'unknown' }, ['/catalogue']],
  [{ id: 'x' }, ['/id']],
])('rejects %j', async (input, pointers) => {
  const { status, body } = await testOf(input);
  expect(status).toBe(400);
  expect(body.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
});

test('stores nothing, and sends a stored credential only to its own host', async () => {
  server.document('/list', 'bad-cdn.top\n');
  const auth = { type: 'bearer', token: 'secret-1' };
  const source = { kind: 'csv', name: 'List', url: `${server.base}/list`, auth };
  const { id } = (await org.call('POST', '/api/feed/sources', source)).body;
  const stored = () =>
    acrossOrgs(app.deps.db, (tx) =>
      queryRows(tx, sql`select s::text from feed_sources s union all select i.id::text from items i order by 1`),
    );
  const before = await stored();
  expect((await testOf({ id })).body).toMatchObject({ kind: 'csv', items: 1 });
  expect((await testOf({ kind: 'csv', url: source.url, auth: { type: 'bearer', token: 'secret-2' } })).body.items).toBe(
    1,
  );
  expect(server.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer secret-1', 'Bearer secret-2']);
  const elsewhere = await testOf({ id, url: 'https://example.com/list' });
  expect([elsewhere.status, elsewhere.body.errors[0].pointer]).toEqual([400, '/auth']);
  expect((await testOf({ id, kind: 'kev' })).status).toBe(400);
  expect(await stored()).toEqual(before);
  const stranger = await app.newOrg();
  expect((await stranger.call('POST', path, { id })).status).toBe(404);
  const reader = await app.newKey(org, ['feed:read']);
  expect((await reader.call('POST', path, { id })).status).toBe(403);
});
