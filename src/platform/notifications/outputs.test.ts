import { sql } from 'kysely';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { acrossOrgs, inOrg, rows } from '../db/db.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { cleanOutboxAcrossOrgs } from './delivery/outbox-cleanup.ts';
import { deliverDue } from './delivery/deliver.ts';
import { claimTriesAcrossOrgs, finishTry } from './delivery/deliveries.store.ts';
import { eventTypes } from './event-types.ts';
import { isSigned, startReceiver } from '../../../test/support/platform/webhook-receiver.ts';

const { deps, newOrg } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1', TOCSIN_LOG_LEVEL: 'fatal' } });
const receiver = await startReceiver();
afterAll(() => receiver.close());
beforeEach(async () => {
  receiver.received.length = 0;
  receiver.reply(() => ({ status: 200 }));
  // What an earlier test left waiting is not this one's.
  await acrossOrgs(deps.db, (tx) => sql`delete from outputs`.execute(tx));
});

const detection = {
  name: 'Root logs in',
  detectionCategory: 'custom',
  systemPrompt: 'Judge it.',
  detectionQuery: 'SELECT 1',
  detectionCadence: 'hourly',
};

type Given = Record<string, unknown>;
async function newOutput(org: TestOrg, given: Given = {}) {
  const body = { kind: 'webhook', name: 'SOC', url: receiver.url, eventTypes, ...given };
  const answer = await org.call('POST', '/api/outputs', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}
const count = (org: TestOrg, table: string): Promise<number> =>
  inOrg(deps.db, org.id, async (tx) => {
    const found = await rows(tx, sql<{ n: number }>`select count(*)::int as n from ${sql.table(table)}`);
    return found[0]!.n;
  });
const dueNow = (org: TestOrg) =>
  inOrg(deps.db, org.id, (tx) =>
    sql`update deliveries set next_try_at = clock_timestamp() where state = 'pending'`.execute(tx),
  );
const logOf = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/api/outputs/${id}/deliveries`)).body.deliveries;

test('a webhook receives each change of a detection, signed, with the whole record', async () => {
  const org = await newOrg();
  const { secret } = await newOutput(org);
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

test('suggestions have events of their own, and a built-in agent has none', async () => {
  const org = await newOrg();
  await newOutput(org);
  const suggest = async (query: string) =>
    (await org.call('POST', '/api/detections/suggestions', { ...detection, detectionQuery: query })).body.id;
  const [one, two] = [await suggest('SELECT 1'), await suggest('SELECT 2')];
  await org.call('POST', `/api/detections/${one}/dismiss`, { reason: 'noisy' });
  await org.call('POST', `/api/detections/${one}/restore`);
  await org.call('POST', `/api/detections/${two}/accept`);
  const agents = (await org.call('GET', '/api/agents')).body.agents.filter((one: Given) => one['isBuiltIn']);
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

test('nothing is written where no destination wants it', async () => {
  const org = await newOrg();
  await org.call('POST', '/api/detections', detection);
  await newOutput(org, { eventTypes: ['hit.created'] });
  await newOutput(org, { enabled: false });
  await org.call('POST', '/api/detections', detection);
  expect([await count(org, 'outbox'), await count(org, 'deliveries')]).toEqual([0, 0]);
});

test('a destination may take the events of some detections only', async () => {
  const org = await newOrg();
  const [one, two] = [
    (await org.call('POST', '/api/detections', detection)).body.id,
    (await org.call('POST', '/api/detections', detection)).body.id,
  ];
  await newOutput(org, { detectionIds: [one] });
  for (const id of [one, two]) await org.call('PUT', `/api/detections/${id}`, { name: 'Changed' });
  await deliverDue(deps);
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.id)).toEqual([one]);
  const foreign = (await (await newOrg()).call('POST', '/api/detections', detection)).body.id;
  const refused = await org.call('POST', '/api/outputs', {
    kind: 'slack',
    name: 'x',
    url: receiver.url,
    detectionIds: [foreign],
  });
  expect(refused.body.errors[0]).toMatchObject({ pointer: '/detectionIds', code: 'unknown_detection' });
});

test('a change that fails takes its event with it', async () => {
  const org = await newOrg();
  await newOutput(org);
  const { id } = (await org.call('POST', '/api/detections', detection)).body;
  const before = await count(org, 'outbox');
  await org.call('PUT', `/api/detections/${id}`, { name: 'x' }, { 'if-match': '"other"' });
  expect(await count(org, 'outbox')).toBe(before);
});

test('a receiver that fails is tried ten times over three days, with the same id and bytes', async () => {
  const org = await newOrg();
  const { id, secret } = await newOutput(org);
  await org.call('POST', '/api/detections', detection);
  const replies = ['cut', { status: 500, body: 'no\u0000\nluck' }, { status: 429 }, { status: 301 }] as const;
  receiver.reply((_one, n) => replies[n % replies.length]!);
  let waitedMs = 0;
  for (let n = 1; n <= 10; n += 1) {
    expect(await deliverDue(deps)).toBe(1);
    const [entry] = await logOf(org, id);
    expect(entry).toMatchObject({ tries: n, state: n === 10 ? 'failed' : 'pending' });
    expect(entry.lastError).toBeTruthy();
    if (entry.nextTryAt) waitedMs += new Date(entry.nextTryAt).getTime() - Date.now();
    await dueNow(org);
  }
  expect(await deliverDue(deps)).toBe(0);
  expect(waitedMs / 86_400_000).toBeGreaterThan(2.9);
  expect(waitedMs / 86_400_000).toBeLessThan(3.4);
  expect(receiver.received).toHaveLength(10);
  expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  expect(receiver.received.every((one) => isSigned(one, secret))).toBe(true);
});

test('a longer pause that the receiver asks for is kept', async () => {
  const org = await newOrg();
  const { id } = await newOutput(org);
  await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 503, headers: { 'retry-after': '7200' } }));
  await deliverDue(deps);
  const [entry] = await logOf(org, id);
  expect(new Date(entry.nextTryAt).getTime() - Date.now()).toBeGreaterThan(7_100_000);
});

test('410 switches the destination off, with a reason, until a person enables it', async () => {
  const org = await newOrg();
  const { id } = await newOutput(org);
  await org.call('POST', '/api/detections', detection);
  await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 410 }));
  await deliverDue(deps, 1);
  expect((await org.call('GET', `/api/outputs/${id}`)).body).toMatchObject({
    enabled: false,
    disabledReason: 'The address answered 410 Gone.',
  });
  expect(receiver.received).toHaveLength(1);
  const [first] = await logOf(org, id);
  expect((await org.call('POST', `/api/outputs/${id}/deliveries/${first.id}/redeliver`)).status).toBe(409);
  receiver.reply(() => ({ status: 204 }));
  expect((await org.call('PUT', `/api/outputs/${id}`, { enabled: true })).body.disabledReason).toBe(null);
  await deliverDue(deps);
  expect((await logOf(org, id)).map((entry: Given) => entry['state']).toSorted()).toEqual(['delivered', 'failed']);
});

test('redelivery sends the same event again, as long as it is kept', async () => {
  const org = await newOrg();
  const { id } = await newOutput(org);
  await org.call('POST', '/api/detections', detection);
  await deliverDue(deps);
  const [entry] = await logOf(org, id);
  const again = () => org.call('POST', `/api/outputs/${id}/deliveries/${entry.id}/redeliver`);
  expect((await again()).body).toMatchObject({ state: 'pending', eventId: entry.eventId });
  await deliverDue(deps);
  expect(receiver.received).toHaveLength(2);
  expect(receiver.received[1]!.body).toBe(receiver.received[0]!.body);
  await inOrg(deps.db, org.id, (tx) => sql`update outbox set at = at - interval '8 days'`.execute(tx));
  await cleanOutboxAcrossOrgs(deps.db, 7);
  expect(await count(org, 'outbox')).toBe(0);
  expect((await again()).status).toBe(409);
  const foreign = await newOutput(org);
  expect((await org.call('POST', `/api/outputs/${foreign.id}/deliveries/${entry.id}/redeliver`)).status).toBe(404);
});

test('bodies that something still waits for are kept, and the log is forgotten after 30 days', async () => {
  const org = await newOrg();
  await newOutput(org);
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

test('of several workers each delivery has one, and what a dead one held is taken over when its lease ends', async () => {
  const org = await newOrg();
  const { id } = await newOutput(org);
  for (let n = 0; n < 6; n += 1) await org.call('POST', '/api/detections', detection);
  const claims = await Promise.all([1, 2, 3, 4].map(() => claimTriesAcrossOrgs(deps.db, 2, new Map())));
  const ids = claims.flat().map((held) => held.id);
  expect(new Set(ids).size).toBe(ids.length);
  const dead = claims.flat()[0]!;
  expect((await claimTriesAcrossOrgs(deps.db, 100, new Map())).map((held) => held.id)).not.toContain(dead.id);
  await dueNow(org);
  await deliverDue(deps);
  expect(receiver.received).toHaveLength(6);
  // The dead one was only slow: what it has to say comes too late.
  const late = {
    state: 'failed',
    pauseMs: null,
    status: 500,
    error: 'late',
    ms: 1,
    counted: true,
    disable: 'late',
  } as const;
  expect(await inOrg(deps.db, org.id, (tx) => finishTry(tx, dead, late))).toBe(false);
  expect((await logOf(org, id)).every((entry: Given) => entry['state'] === 'delivered')).toBe(true);
});

test('a destination that keeps failing is asked by one delivery at a time', async () => {
  const org = await newOrg();
  await newOutput(org);
  for (let n = 0; n < 8; n += 1) await org.call('POST', '/api/detections', detection);
  receiver.reply(() => ({ status: 500 }));
  const first = await claimTriesAcrossOrgs(deps.db, 100, new Map());
  expect(first).toHaveLength(4);
  expect(await claimTriesAcrossOrgs(deps.db, 100, new Map([[first[0]!.output_id, 4]]))).toEqual([]);
  const end = { state: 'pending', pauseMs: 0, status: 500, error: 'x', ms: 1, counted: true, disable: null } as const;
  for (const held of first) await inOrg(deps.db, org.id, (tx) => finishTry(tx, held, end));
  expect(await claimTriesAcrossOrgs(deps.db, 100, new Map())).toHaveLength(1);
});
