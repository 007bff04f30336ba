import { sql } from 'kysely';
import { afterAll, expect, test } from 'vitest';
import { callOk, postDetection } from '../../../../test/support/detection/detection-factory.ts';
import { startApp, type TestOrg } from '../../../../test/support/harness.ts';
import { acrossOrgs, queryRows } from '../../db/db.ts';
import { listEvents } from './stream-events.ts';

const { app, deps, newOrg, newKey } = await startApp();
const origin = await app.listen({ port: 0, host: '127.0.0.1' });

type Sent = { id: string; event: string; data: Record<string, unknown> };
const opened: AbortController[] = [];
afterAll(() => opened.forEach((one) => one.abort()));

/** Opens a stream. `next` waits for its next event, `ended` for its end. */
async function openStream(org: TestOrg, { query = '', lastId }: { query?: string; lastId?: string } = {}) {
  const abort = new AbortController();
  opened.push(abort);
  const response = await fetch(`${origin}/api/events${query}`, {
    headers: {
      authorization: `Bearer ${org.key}`,
      accept: 'text/event-stream',
      ...(lastId ? { 'last-event-id': lastId } : {}),
    },
    signal: abort.signal,
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const next = async (): Promise<Sent> => {
    for (;;) {
      const end = text.indexOf('\n\n');
      if (end === -1) {
        const { value, done } = await reader.read();
        if (done) throw new Error('The stream ended.');
        text += value;
        continue;
      }
      const lines = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s, 2) as [string, string]),
      );
      text = text.slice(end + 2);
      if (lines.has('data'))
        return { id: lines.get('id')!, event: lines.get('event')!, data: JSON.parse(lines.get('data')!) };
    }
  };
  return { response, next, close: () => abort.abort() };
}

test('streams the events of the organization to each client once, and resumes after an id', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  await callOk(org, 'GET', '/api/events');
  const [first, second] = [await openStream(org), await openStream(org, { query: '?types=detection.deleted' })];
  expect(first.response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(first.response.headers.get('x-content-type-options')).toBe('nosniff');
  await postDetection(other);
  const { id } = await postDetection(org, { name: 'Line\nbreak' });
  const created = await first.next();
  expect(created).toMatchObject({
    event: 'detection.created',
    data: { id: created.id, organizationId: org.id, data: { id, name: 'Line\nbreak' } },
  });
  first.close();
  await callOk(org, 'PUT', `/api/detections/${id}`, { name: 'two' });
  await callOk(org, 'DELETE', `/api/detections/${id}`);
  expect(await second.next()).toMatchObject({ event: 'detection.deleted', data: { data: { id } } });
  const resumed = await openStream(org, { lastId: created.id });
  expect([(await resumed.next()).event, (await resumed.next()).event]).toEqual([
    'detection.updated',
    'detection.deleted',
  ]);
  await callOk(org, 'POST', `/api/detections/${id}/restore`);
  expect((await resumed.next()).event).toBe('detection.restored');
  const { events, nextCursor } = await callOk(org, 'GET', '/api/events?limit=3');
  expect(events.map(({ type }: { type: string }) => type)).toEqual([
    'detection.restored',
    'detection.deleted',
    'detection.updated',
  ]);
  expect((await callOk(org, 'GET', `/api/events?cursor=${nextCursor}`)).events).toMatchObject([
    { type: 'detection.created' },
  ]);
});

test('stores events for three days after a client listed them', async () => {
  const org = await newOrg();
  await callOk(org, 'GET', '/api/events');
  const [stored] = await acrossOrgs(
    deps.db,
    (tx) =>
      queryRows<{ hours: number }>(tx)`
      select extract(epoch from listening_until - now())::float8 / 3600 as hours from organizations where id = ${org.id}`,
  );
  expect(stored!.hours).toBeGreaterThan(71.9);
});

test('leaves out types that the key may not read', async () => {
  const org = await newOrg();
  await callOk(org, 'GET', '/api/events');
  await acrossOrgs(deps.db, (tx) =>
    sql`insert into outbox select ${org.id}, gen_random_uuid(), now(), t, 'x', ${JSON.stringify({ id: 'x', type: 'x', timestamp: new Date().toISOString(), organizationId: 'x', revision: 1, data: {} })}
      from unnest(array['hit.created', 'feed.source.failed', 'run.failed']) t`.execute(tx),
  );
  const countFor = async (granted: Parameters<typeof newKey>[1]) =>
    (await callOk(await newKey(org, granted), 'GET', '/api/events')).events.length;
  expect(await countFor(['detections:read'])).toBe(1);
  expect(await countFor(['detections:read', 'hits:read', 'feed:read'])).toBe(3);
});

test('stores nothing for an organization without a listener or destination', async () => {
  const org = await newOrg();
  await postDetection(org);
  expect((await callOk(org, 'GET', '/api/events')).events).toEqual([]);
  await acrossOrgs(deps.db, (tx) =>
    sql`update organizations set listening_until = now() where id = ${org.id}`.execute(tx),
  );
  await postDetection(org);
  const caller = { orgId: org.id, keyId: null, scopes: new Set(['detections:read']), expiresAt: null };
  expect((await listEvents(deps, caller, {})).events).toEqual([]);
});

test('refuses more than 100 streams of an organization, and an id that is none', async () => {
  const org = await newOrg();
  const streams = await Promise.all(Array.from({ length: 101 }, () => openStream(org)));
  const statuses = streams.map(({ response }) => response.status).toSorted((a, b) => a - b);
  expect(statuses).toEqual([...Array.from({ length: 100 }, () => 200), 429]);
  expect((await openStream(await newOrg())).response.status).toBe(200);
  expect((await openStream(await newOrg(), { lastId: 'x' })).response.status).toBe(400);
  expect((await openStream(await newOrg(), { query: '?types=hit.new' })).response.status).toBe(400);
});
