import { afterAll, beforeEach, expect, test } from 'vitest';
import { startApp } from '../../../test/support/harness.ts';
import { sql } from 'kysely';
import { acrossOrgs, queryRows } from '../../platform/db/db.ts';
import { kevCatalogue, kevRows } from '../../../test/support/feed/kev-source.ts';
import { startServer } from '../../../test/support/feed/source-server.ts';

const server = await startServer();
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1,localhost' } });
const org = await app.newOrg();
afterAll(() => server.stop());
beforeEach(() => {
  server.asked.length = 0;
  server.document('/kev.json', JSON.stringify(kevCatalogue(1, kevRows(2))));
});

const create = (auth: unknown) =>
  org.call('POST', '/api/feed/sources', { kind: 'kev', name: 'K', url: `${server.base}/kev.json`, auth });

test.each([
  [
    { type: 'basic', username: 'me', password: 'secret:1' },
    'authorization',
    `Basic ${Buffer.from('me:secret:1').toString('base64')}`,
  ],
  [{ type: 'bearer', token: 'secret-1' }, 'authorization', 'Bearer secret-1'],
  [{ type: 'header', name: 'apiKey', value: 'secret-1' }, 'apikey', 'secret-1'],
])('%j is sent, kept sealed and never given out', async (auth, header, value) => {
  const made = await create(auth);
  expect([made.status, made.body.hasAuth]).toEqual([200, true]);
  expect((await org.call('POST', `/api/feed/sources/${made.body.id}/pull`)).body.added).toBe(2);
  expect(server.asked.at(-1)!.headers[header]).toBe(value);
  const answers = [
    made,
    await org.call('GET', `/api/feed/sources/${made.body.id}`),
    await org.call('GET', '/api/feed/sources'),
  ];
  expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain('secret');
  const query = sql<{ line: string }>`select s::text as line from feed_sources s union all select a::text from audit a`;
  const stored = await acrossOrgs(app.deps.db, (tx) => queryRows(tx, query));
  expect(stored.map(({ line }) => line).join()).not.toMatch(/secret[:-]1|7365637265742d31|7365637265743a31/);
});

test('keeps the credential on an update, removes it with null, and rejects a change of host without a new credential', async () => {
  const made = await create({ type: 'bearer', token: 't' });
  const url = `/api/feed/sources/${made.body.id}`;
  const renamed = (await org.call('PUT', url, { ...made.body, name: 'other' })).body;
  expect(renamed).toMatchObject({ name: 'other', hasAuth: true });
  const elsewhere = { url: `${server.base.replace('127.0.0.1', 'localhost')}/kev.json` };
  const refused = await org.call('PUT', url, elsewhere);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([400, expect.stringContaining('/auth')]);
  expect((await org.call('PUT', url, { ...elsewhere, auth: { type: 'bearer', token: 'n' } })).body.hasAuth).toBe(true);
  expect((await org.call('PUT', url, { auth: null })).body.hasAuth).toBe(false);
});

test.each([
  { type: 'basic', username: 'a:b', password: 'x' },
  { type: 'bearer', token: 'a\r\nb' },
  { type: 'header', name: 'Host', value: 'x' },
  { type: 'other' },
])('%j is refused', async (auth) => {
  expect((await create(auth)).status).toBe(400);
});
