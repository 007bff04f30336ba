import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pullDocument } from '../../../test/support/api-client.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callerOf } from '../../../test/support/org-requests.ts';
import { inOrg } from '../../platform/db/db.ts';
import { parseNetwork } from '../model/values/networks.ts';
import { listNetworkValues } from './indicators.store.ts';

const now = new Date('2024-01-10T10:20:30.000Z');
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' }, clock: () => now });

async function addEvent(org: TestOrg, name: string, attributes: [type: string, value: string][]): Promise<void> {
  const event = mispEvent(name, {
    Attribute: attributes.map(([type, value]) => mispAttribute(type, value)),
    Object: [],
  });
  const pulled = await pullDocument(callerOf(org), { kind: 'misp', name }, JSON.stringify(event));
  expect(pulled).toMatchObject({ added: 1 });
}

const lookUp = async (org: TestOrg, value: string) =>
  (await org.call('GET', `/api/indicators?value=${encodeURIComponent(value)}`)).body;

const org = await app.newOrg();
await addEvent(org, 'networks', [
  ['ip-dst', '45.155.205.0/24'],
  ['ip-dst', '45.155.0.0/16'],
  ['ip-dst', '2a06:98c0::/29'],
  ['ip-dst', '10.0.0.0/8'],
  ['ip-dst', '0.0.0.0/0'],
  ['ip-dst', '45.155.205.9'],
  ['ip-dst', '45.155.205.200'],
  ['ip-dst', '2a06:98c0::7'],
  ['domain', 'zq-parent.top'],
  ['domain', 'mail-zq.top'],
  ['email-src', 'Attacker@Mail-ZQ[.]top'],
  ['btc', '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'],
  ['mutex', String.raw`Global\ZqMutex`],
  ['AS', '64496'],
]);

test.each([
  ['45.155.205.77', 'its network 45.155.205.0/24 is active in 1 of 1 item', ['45.155.205.0/24', '45.155.0.0/16']],
  ['45.155.3.1:8080', 'its network 45.155.0.0/16 is active in 1 of 1 item', ['45.155.0.0/16']],
  ['2a06:98c1::1', 'its network 2a06:98c0::/29 is active in 1 of 1 item', ['2a06:98c0::/29']],
  ['45.155.205.128/25', 'its network 45.155.205.0/24 is active in 1 of 1 item', ['45.155.205.0/24', '45.155.0.0/16']],
  ['www.zq-parent.top', 'the domain above it zq-parent.top is active in 1 of 1 item', ['zq-parent.top']],
  ['https://zq-parent.top/x', 'its host zq-parent.top is active in 1 of 1 item', ['zq-parent.top']],
  ['other@mail-zq.top', 'its host mail-zq.top is active in 1 of 1 item', ['mail-zq.top']],
])('an indicator that covers %s makes it active', async (value, why, covering) => {
  const body = await lookUp(org, value);
  expect(body).toMatchObject({ status: 'active', why, total: 0, items: [] });
  expect(body.covering.map((one: { value: string }) => one.value)).toEqual(covering);
  expect(body.match).toBe(body.covering[0].match);
});

test.each(['10.1.2.3', '8.8.4.77', '45.156.0.1', 'zq-other.top'])('no indicator covers %s', async (value) => {
  expect(await lookUp(org, value)).toMatchObject({ status: 'unknown', covering: [] });
});

test.each([
  ['45.155.205.9', 'ipv4', 'active in 1 of 1 item'],
  ['45.155.205.7/24', 'cidr', 'active in 1 of 1 item'],
  ['attacker@mail-zq.top', 'email-src', 'active in 1 of 1 item'],
  ['1BoatSLRHtKNngkdXEeobR76b53LETtpyT', 'btc', 'active in 1 of 1 item'],
  [String.raw`Global\ZqMutex`, 'mutex', 'active in 1 of 1 item'],
  ['AS64496', 'AS', 'active in 1 of 1 item'],
])('finds %s itself', async (value, type, why) => {
  expect(await lookUp(org, value)).toMatchObject({ type, why, status: 'active', match: 'exact', total: 1 });
});

test('a network that is private or too wide is a false positive', async () => {
  for (const value of ['10.0.0.0/8', '0.0.0.0/0']) expect((await lookUp(org, value)).status).toBe('false_positive');
});

test('lists what lies inside a network', async () => {
  const values = async (value: string) => {
    const { inside } = await lookUp(org, value);
    return {
      ...inside,
      values: inside.values.map((one: { value: string; status: string }) => `${one.value} ${one.status}`),
    };
  };
  expect(await values('45.155.205.0/24')).toEqual({
    total: 2,
    hasMore: false,
    values: ['45.155.205.9 active', '45.155.205.200 active'],
  });
  expect((await values('45.0.0.0/8')).values).toEqual([
    '45.155.0.0/16 active',
    '45.155.205.0/24 active',
    '45.155.205.9 active',
    '45.155.205.200 active',
  ]);
  expect((await values('2a06:98c0::/29')).values).toEqual(['2a06:98c0::7 active']);
  expect((await values('0.0.0.0/0')).total).toBe(5);
  expect((await values('198.51.100.0/24')).values).toEqual([]);
  expect(await lookUp(org, '45.155.205.9')).not.toHaveProperty('inside');
});

test('covers and contains only what the organization sees, and nothing of a retracted item', async () => {
  const other = await app.newOrg();
  expect(await lookUp(other, '45.155.205.77')).toMatchObject({ status: 'unknown', covering: [] });
  expect((await lookUp(other, '45.0.0.0/8')).inside).toEqual({ total: 0, hasMore: false, values: [] });
  await addEvent(other, 'retracted', [['ip-dst', '45.155.205.0/24']]);
  const [item] = (await other.call('GET', '/items')).body.items;
  expect((await lookUp(other, '45.155.205.77')).status).toBe('active');
  await other.call('PUT', `/api/feed/items/${item.id}/override`, { status: 'retracted' });
  expect(await lookUp(other, '45.155.205.77')).toMatchObject({
    status: 'unknown',
    covering: [{ status: 'revoked', why: 'the organization retracted its item', match: 'network' }],
  });
});

test('a false positive stays one in a listed network', async () => {
  const own = await app.newOrg();
  await addEvent(own, 'own', [
    ['ip-dst', '91.92.240.0/24'],
    ['ip-dst', '91.92.240.9'],
  ]);
  const [item] = (await own.call('GET', '/items')).body.items;
  const indicators = [{ type: 'ipv4', value: '91.92.240.9', status: 'false_positive' }];
  await own.call('PUT', `/api/feed/items/${item.id}/override`, { indicators });
  expect(await lookUp(own, '91.92.240.9')).toMatchObject({ status: 'false_positive', match: 'exact' });
  await own.call('PUT', `/api/feed/items/${item.id}/override`, {
    indicators: [{ ...indicators[0], status: 'expired' }],
  });
  expect(await lookUp(own, '91.92.240.9')).toMatchObject({
    status: 'active',
    match: 'network',
    why: 'its network 91.92.240.0/24 is active in 1 of 1 item; the value itself is not active in any item, expired in 1 of 1 item',
  });
});

test('reads every part of a composite value and says what was corrected', async () => {
  expect(await lookUp(org, '"zq-unknown.top|45.155.205.9:443"')).toMatchObject({
    value: '"zq-unknown.top|45.155.205.9:443"',
    normalizedValue: '45.155.205.9',
    type: 'ipv4',
    status: 'active',
    correction: 'quotation marks removed, port 443 removed',
    parts: [
      { value: 'zq-unknown.top', type: 'domain', status: 'unknown', total: 0 },
      { value: '45.155.205.9', type: 'ipv4', status: 'active', total: 1 },
    ],
  });
  expect(await lookUp(org, 'zq-parent.top')).not.toHaveProperty('correction');
  const listed = await org.call('GET', `/items?indicator=${encodeURIComponent('<zq-parent[.]top>')}`);
  expect(listed.body.total).toBe(1);
});

test('reads ranges of addresses in events and in look-ups', async () => {
  const own = await app.newOrg();
  await addEvent(own, 'ranges', [['ip-dst', '91.92.240.0 - 91.92.241.255']]);
  const found = await lookUp(own, '91.92.240.0-91.92.241.255');
  expect(found).toMatchObject({
    normalizedValue: '91.92.240.0/23',
    status: 'active',
    correction: 'range read as networks',
  });
  expect(await lookUp(own, '91.92.241.9')).toMatchObject({ status: 'active', match: 'network' });
  expect((await lookUp(own, '91.92.241.255-91.92.242.0')).parts).toEqual([
    { value: '91.92.241.255', type: 'ipv4', status: 'active', total: 0 },
    { value: '91.92.242.0', type: 'ipv4', status: 'unknown', total: 0 },
  ]);
});

test('skips through the values of a network by index', async () => {
  await inOrg(app.deps.db, org.id, async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    const network = parseNetwork('45.0.0.0/8')!;
    expect(await listNetworkValues(tx, network, 2)).toEqual(['45.155.0.0/16', '45.155.205.0/24']);
  });
});
