import { afterAll, expect, test } from 'vitest';
import { startApp } from '../../../../test/support/harness.ts';
import { pullNextDue } from './start-pulls.ts';
import { emptyResult } from '../../ingestion/pull-plan.ts';
import { mispAttribute, mispEvent, mispId } from '../../../../test/support/feed/misp-documents.ts';
import { startServer } from '../../../../test/support/feed/source-server.ts';

let now = new Date('2025-03-01T10:20:00.000Z');
const server = await startServer();
const app = await startApp({ clock: () => now, env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
const org = await app.newOrg();
afterAll(() => server.stop());

const publish = (events: Record<string, Record<string, unknown>>): void => {
  server.routes.clear();
  const rows = Object.entries(events).map(([name, more]) => [mispId(name), { timestamp: more['timestamp'] ?? '1' }]);
  server.document('/manifest.json', JSON.stringify(Object.fromEntries(rows)));
  for (const [name, more] of Object.entries(events))
    server.document(`/${mispId(name)}.json`, JSON.stringify(mispEvent(name, { timestamp: '1', ...more })));
};

async function createSource(name: string, path = '/manifest.json') {
  const made = await org.call('POST', '/api/feed/sources', { kind: 'misp', name, url: server.base + path });
  const url = `/api/feed/sources/${made.body.id}`;
  return {
    pull: async () => (await org.call('POST', `${url}/pull`)).body,
    read: async () => (await org.call('GET', url)).body,
  };
}

test('fetches only new, changed and withdrawn documents of a feed', async () => {
  publish({ a: {}, b: {}, c: {} });
  const { pull } = await createSource('M');
  expect(await pull()).toEqual({ ...emptyResult, added: 3 });
  const [item] = (await org.call('GET', '/items?perPage=1')).body.items;
  expect(item.source).toMatchObject({ publisher: 'CERT', name: 'M', tlp: 'GREEN' });
  expect(item.provenance.supportingPassages[0].sourceUrl).toBe(`${server.base}/${item.externalId}.json`);
  expect(await pull()).toMatchObject({ added: 0, corrected: 0, retracted: 0, unchanged: 3 });
  publish({
    a: { timestamp: '2', Attribute: [mispAttribute('domain', 'other.example')] },
    b: { timestamp: '2', deleted: true },
    c: {},
    d: {},
  });
  server.asked.length = 0;
  expect(await pull()).toMatchObject({ added: 1, corrected: 1, retracted: 1, unchanged: 1 });
  expect(server.asked).toHaveLength(4);
  // A document that leaves the list is not retracted.
  publish({ c: {}, d: {} });
  expect(await pull()).toMatchObject({ added: 0, corrected: 0, retracted: 0, unchanged: 2 });
  server.routes.clear();
  expect((await pull()).error).toMatch(/status 404/);
});

test('skips an unreadable document with the reason and does not fetch it again', async () => {
  publish({ p: {}, q: {} });
  const { pull } = await createSource('B', '/');
  expect(await pull()).toMatchObject({ added: 2, skipped: [] });
  publish({ p: {}, q: {}, r: {} });
  server.document(`/${mispId('r')}.json`, '{"no": "event"}');
  const second = await pull();
  expect(second).toMatchObject({ added: 0, unchanged: 2, skipped: [{ entry: mispId('r') }] });
  expect(second.error).toBeUndefined();
  server.asked.length = 0;
  expect(await pull()).toMatchObject({ unchanged: 3, skipped: [] });
  expect(server.asked.map(({ path }) => path)).toEqual(['/manifest.json']);
});

test('continues a minute later when the limits of a pull left documents unread', async () => {
  const rows = Array.from({ length: 1_002 }, (_, n) => `e${n.toString(36).padStart(3, '0')}`);
  publish(Object.fromEntries(rows.map((name) => [name, { Object: [], Attribute: [] }])));
  const { read } = await createSource('L');
  now = new Date('2025-03-01T11:00:01.000Z');
  while (await pullNextDue(app.deps));
  const held = await read();
  expect([held.lastResult.added, held.nextPullAt]).toEqual([999, '2025-03-01T11:01:01.000Z']);
  now = new Date('2025-03-01T11:01:02.000Z');
  while (await pullNextDue(app.deps));
  const after = await read();
  expect([after.lastResult.added, after.nextPullAt]).toEqual([3, '2025-03-01T12:00:00.000Z']);
});

test('keeps the documents fetched before a Retry-After response', async () => {
  publish({ t: {}, u: {} });
  server.routes.set(
    `/${mispId('u')}.json`,
    (response) => void response.writeHead(429, { 'retry-after': '9000' }).end(),
  );
  const { read } = await createSource('P', '/');
  now = new Date('2025-03-02T11:00:01.000Z');
  while (await pullNextDue(app.deps));
  const held = await read();
  expect([held.lastResult.added, held.failures, held.nextPullAt]).toEqual([1, 0, '2025-03-02T14:00:00.000Z']);
});

test('retries a source of a single document as well', async () => {
  const answers = [429, 503];
  server.routes.set('/list.txt', (response) => {
    const status = answers.shift();
    if (status) response.writeHead(status, { 'retry-after': '1' }).end();
    else response.end('evil-host.top\n');
  });
  const made = await org.call('POST', '/api/feed/sources', { kind: 'csv', name: 'L', url: `${server.base}/list.txt` });
  const { body } = await org.call('POST', `/api/feed/sources/${made.body.id}/pull`);
  expect(body).toEqual({ ...emptyResult, added: 1 });
});
