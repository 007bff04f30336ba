import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { inOrg, queryRows } from '../db/db.ts';
import type { TestOrg } from '../../../test/support/harness.ts';
import { startDestinationTests } from '../../../test/support/platform/destination-tests.ts';
import {
  cleanOutboxAcrossOrgs,
  claimDeliveriesAcrossOrgs,
  finishAttempt,
  type AttemptResult,
} from './deliveries.store.ts';
import { deliverDue } from './deliver.ts';
import { isSigned } from '../../../test/support/platform/webhook-receiver.ts';

const { deps, newOrg, newDestination, receiver } = await startDestinationTests();

const detection = {
  name: 'Root logs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT 1',
  detectionCadence: 'hourly',
};

const failedAttempt: AttemptResult = {
  state: 'pending',
  pauseMs: 0,
  status: 500,
  error: 'x',
  ms: 1,
  counted: true,
  disable: null,
  ticket: null,
};

type JsonObject = Record<string, unknown>;
const count = (org: TestOrg, table: string): Promise<number> =>
  inOrg(deps.db, org.id, async (tx) => {
    const found = await queryRows<{ n: number }>(tx)`select count(*)::int as n from ${sql.table(table)}`;
    return found[0]!.n;
  });
const makeDue = (org: TestOrg) =>
  inOrg(deps.db, org.id, (tx) =>
    sql`update deliveries set next_try_at = clock_timestamp() where state = 'pending'`.execute(tx),
  );
const listLog = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/api/destinations/${id}/deliveries`)).body.deliveries;

test('sends each change of a detection to a webhook, signed and with the complete record', async () => {
  const org = await newOrg();
  const { secret } = await newDestination(org);
  const { id } = (await org.call('POST', '/api/detections', detection)).body;
  await org.call('PUT', `/api/detections/${id}`, { name: 'Root signs in' });
  await org.call('DELETE', `/api/detections/${id}`);
  await org.call('POST', `/api/detections/${id}/restore`);
  const record = (await org.call('GET', `/api/detections/${id}`)).body;
  await deliverDue(deps);
  expect(receiver.received.every((one) => isSigned(one, secret))).toBe(true);
  expect(isSigned(receiver.received[0]!, `whsec_${Buffer.alloc(32).toString('base64')}`)).toBe(false);
  const events = receiver.received.map(({ body }) => JSON.parse(body)).toSorted((a, b) => a.revision - b.revision);
  expect(events.map(({ type }) => type)).toEqual([
    'detection.created',
    'detection.updated',
    'detection.deleted',
    'detection.restored',
  ]);
  expect(events.at(-1)).toMatchObject({ organizationId: org.id, data: record });
  expect(receiver.received.map(({ headers }) => headers['webhook-id']).toSorted()).toEqual(
    events.map((event) => event.id).toSorted(),
  );
  expect(await deliverDue(deps)).toBe(0);
});

test('emits suggestion events for suggestions and no events for built-in agents', async () => {
  const org = await newOrg();
  await newDestination(org);
  const suggest = async (query: string) =>
    (await org.call('POST', '/api/detections/suggestions', { ...detection, detectionQuery: query })).body.id;
  const [one, two] = [await suggest('SELECT 1'), await suggest('SELECT 2')];
  await org.call('POST', `/api/detections/${one}/dismiss`, { reason: 'noisy' });
  await org.call('POST', `/api/detections/${one}/restore`);
  await org.call('POST', `/api/detections/${two}/accept`);
  const agents = (await org.call('GET', '/api/agents')).body.agents.filter((agent: JsonObject) => agent['isBuiltIn']);
  await org.call('PUT', `/api/agents/${agents[0].id}`, { detectionCadence: 'weekly' });
  await deliverDue(deps);
  expect(receiver.received.map(({ body }) => JSON.parse(body).type).toSorted()).toEqual([
    'suggestion.accepted',
    'suggestion.created',
    'suggestion.created',
    'suggestion.dismissed',
    'suggestion.restored',
  ]);
});

test('stores nothing if no destination subscribes to the event', async () => {
  const org = await newOrg();
  await org.call('POST', '/api/detections', detection);
  await newDestination(org, { eventTypes: ['hit.created'] });
  await newDestination(org, { enabled: false });
  await org.call('POST', '/api/detections', detection);
  expect([await count(org, 'outbox'), await count(org, 'deliveries')]).toEqual([0, 0]);
});

test('sends only events of the selected detections', async () => {
  const org = await newOrg();
  const [one, two] = [
    (await org.call('POST', '/api/detections', detection)).body.id,
    (await org.call('POST', '/api/detections', detection)).body.id,
  ];
  await newDestination(org, { detectionIds: [one] });
  for (const id of [one, two]) await org.call('PUT', `/api/detections/${id}`, { name: 'Changed' });
  await deliverDue(deps);
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.id)).toEqual([one]);
  const foreign = (await (await newOrg()).call('POST', '/api/detections', detection)).body.id;
  const response = await org.call('POST', '/api/destinations', {
    kind: 'slack',
    name: 'x',
    url: receiver.url,
    detectionIds: [foreign],
  });
  expect(response.body.errors[0]).toMatchObject({ pointer: '/detectionIds', code: 'unknown_detection' });
});

test('accepts as the zone of hours only zones that PostgreSQL, which compares hours, has as well', async () => {
  const org = await newOrg();
  const hours = { timeZone: 'IST', from: '18:00', to: '08:00' };
  const refused = await org.call('POST', '/api/destinations', { kind: 'slack', name: 'x', url: receiver.url, hours });
  expect(refused.body.errors[0]).toMatchObject({ pointer: '/hours/timeZone' });
  const zones = await inOrg(
    deps.db,
    org.id,
    (tx) => queryRows<{ name: string }>(tx)`select name from pg_timezone_names`,
  );
  const known = new Set(zones.map(({ name }) => name));
  expect(Intl.supportedValuesOf('timeZone').filter((name) => !known.has(name))).toEqual([]);
});

test('rolls back the event of a failed change', async () => {
  const org = await newOrg();
  await newDestination(org);
  const { id } = (await org.call('POST', '/api/detections', detection)).body;
  const before = await count(org, 'outbox');
  await org.call('PUT', `/api/detections/${id}`, { name: 'x' }, { 'if-match': '"other"' });
  expect(await count(org, 'outbox')).toBe(before);
});

test('tries a failing receiver ten times over three days, with the same ID and body', async () => {
  const org = await newOrg();
  const { id, secret } = await newDestination(org);
  await org.call('POST', '/api/detections', detection);
  const replies = ['cut', { status: 500, body: 'no\u0000\nluck' }, { status: 429 }, { status: 301 }] as const;
  receiver.reply((_one, n) => replies[n % replies.length]!);
  let waitedMs = 0;
  for (let n = 1; n <= 10; n += 1) {
    expect(await deliverDue(deps)).toBe(1);
    const [entry] = await listLog(org, id);
    expect(entry).toMatchObject({ tries: n, state: n === 10 ? 'failed' : 'pending' });
    expect(entry.lastError).toBeTruthy();
    if (entry.nextTryAt) waitedMs += new Date(entry.nextTryAt).getTime() - Date.now();
    await makeDue(org);
  }
  expect(await deliverDue(deps)).toBe(0);
  expect(waitedMs / 86_400_000).toBeGreaterThan(2.9);
  expect(waitedMs / 86_400_000).toBeLessThan(3.4);
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(receiver.received.every((one) => isSigned(one, secret))).toBe(true);
});

test('honors a longer Retry-After of the receiver', async () => {
  const org = await newOrg();
  const { id } = await newDestination(org);
  await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 503, headers: { 'retry-after': '7200' } }));
  await deliverDue(deps);
  const [entry] = await listLog(org, id);
  expect(new Date(entry.nextTryAt).getTime() - Date.now()).toBeGreaterThan(7_100_000);
});

test('disables the destination with a reason after a 410, until a person enables it', async () => {
  const org = await newOrg();
  const { id } = await newDestination(org);
  await org.call('POST', '/api/detections', detection);
  await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 410 }));
  await deliverDue(deps, 1);
  expect((await org.call('GET', `/api/destinations/${id}`)).body).toMatchObject({
    enabled: false,
    disabledReason: 'The destination responded with 410 Gone.',
  });
  expect(receiver.received).toHaveLength(1);
  const [first] = await listLog(org, id);
  expect((await org.call('POST', `/api/destinations/${id}/deliveries/${first.id}/redeliver`)).status).toBe(409);
  receiver.reply(() => ({ status: 204 }));
  expect((await org.call('PUT', `/api/destinations/${id}`, { enabled: true })).body.disabledReason).toBe(null);
  await deliverDue(deps);
  expect((await listLog(org, id)).map((entry: JsonObject) => entry['state']).toSorted()).toEqual([
    'delivered',
    'failed',
  ]);
});

test('redelivers the same event, and returns 409 once it is no longer stored', async () => {
  const org = await newOrg();
  const { id } = await newDestination(org);
  await org.call('POST', '/api/detections', detection);
  await deliverDue(deps);
  const [entry] = await listLog(org, id);
  const redeliver = () => org.call('POST', `/api/destinations/${id}/deliveries/${entry.id}/redeliver`);
  expect((await redeliver()).body).toMatchObject({ state: 'pending', eventId: entry.eventId });
  await deliverDue(deps);
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
  await inOrg(deps.db, org.id, (tx) => sql`update outbox set at = at - interval '8 days'`.execute(tx));
  await cleanOutboxAcrossOrgs(deps.db, 7);
  expect(await count(org, 'outbox')).toBe(0);
  expect((await redeliver()).status).toBe(409);
  const foreign = await newDestination(org);
  expect((await org.call('POST', `/api/destinations/${foreign.id}/deliveries/${entry.id}/redeliver`)).status).toBe(404);
});

test('keeps bodies of pending deliveries and deletes the log after 30 days', async () => {
  const org = await newOrg();
  await newDestination(org);
  await org.call('POST', '/api/detections', detection);
  await inOrg(deps.db, org.id, async (tx) => {
    await sql`update outbox set at = at - interval '40 days'`.execute(tx);
    await sql`update deliveries set event_at = event_at - interval '40 days', created_at = created_at - interval '40 days'`.execute(
      tx,
    );
  });
  await cleanOutboxAcrossOrgs(deps.db, 7);
  expect([await count(org, 'outbox'), await count(org, 'deliveries')]).toEqual([1, 1]);
  await deliverDue(deps);
  expect(receiver.received).toHaveLength(1);
  await cleanOutboxAcrossOrgs(deps.db, 7);
  expect([await count(org, 'outbox'), await count(org, 'deliveries')]).toEqual([0, 0]);
});

test('gives each delivery to one worker, and to another after the lease of a dead one', async () => {
  const org = await newOrg();
  const { id } = await newDestination(org);
  for (let n = 0; n < 6; n += 1) await org.call('POST', '/api/detections', detection);
  const claims = await Promise.all([1, 2, 3, 4].map(() => claimDeliveriesAcrossOrgs(deps.db, 2, new Map())));
  const ids = claims.flat().map((delivery) => delivery.id);
  expect(new Set(ids).size).toBe(ids.length);
  const dead = claims.flat()[0]!;
  expect((await claimDeliveriesAcrossOrgs(deps.db, 100, new Map())).map((delivery) => delivery.id)).not.toContain(
    dead.id,
  );
  await makeDue(org);
  await deliverDue(deps);
  expect(receiver.received).toHaveLength(6);
  // The worker was only slow. Its late result is ignored.
  const late = { ...failedAttempt, state: 'failed', pauseMs: null, disable: 'late' } as const;
  expect(await inOrg(deps.db, org.id, (tx) => finishAttempt(tx, dead, late))).toBe(false);
  expect((await listLog(org, id)).every((entry: JsonObject) => entry['state'] === 'delivered')).toBe(true);
});

test('sends one delivery at a time to a destination that keeps failing', async () => {
  const org = await newOrg();
  await newDestination(org);
  for (let n = 0; n < 8; n += 1) await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 500 }));
  const first = await claimDeliveriesAcrossOrgs(deps.db, 100, new Map());
  expect(first).toHaveLength(4);
  expect(await claimDeliveriesAcrossOrgs(deps.db, 100, new Map([[first[0]!.destination_id, 4]]))).toEqual([]);
  for (const delivery of first) await inOrg(deps.db, org.id, (tx) => finishAttempt(tx, delivery, failedAttempt));
  expect(await claimDeliveriesAcrossOrgs(deps.db, 100, new Map())).toHaveLength(1);
});
