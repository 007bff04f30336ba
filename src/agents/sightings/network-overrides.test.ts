import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { pullDocument } from '../../../test/support/api-client.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { startApp, type TestOrg } from '../../../test/support/harness.ts';
import { callerOf, sendEvents } from '../../../test/support/org-requests.ts';
import { toMispEventId } from '../../feed/exports/misp-event.ts';
import type { OverriddenIndicator } from '../../feed/model/overrides.schema.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
import { syncSweepsAcrossOrgs } from './sightings.store.ts';
import { sweepDue } from './sweep.ts';

let now = new Date('2024-01-10T10:20:30.000Z');
const app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' }, clock: () => now });

const network = '45.9.148.0/24';
const inside = '45.9.148.77';
const mail = 'drop@zq-mail.top';

async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(app.deps.db);
  await acrossOrgs(app.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let step = 0; step < 50 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
}

/** Adds an event with the network and returns the ID of its item. */
async function addEvent(org: TestOrg, name: string): Promise<string> {
  const attributes = [
    mispAttribute('ip-dst', network),
    mispAttribute('email-src', mail),
    mispAttribute('domain', `${name}.top`),
  ];
  const event = mispEvent(name, { Attribute: attributes, Object: [] });
  expect(await pullDocument(callerOf(org), { kind: 'misp', name }, JSON.stringify(event))).toMatchObject({ added: 1 });
  return (await callOk(org, 'GET', `/items?indicator=${name}.top`)).items[0].id;
}

const override = (org: TestOrg, id: string, indicators: OverriddenIndicator[] | null) =>
  callOk(org, 'PUT', `/api/feed/items/${id}/override`, { indicators });

const lookUp = (org: TestOrg, value: string) =>
  callOk(org, 'GET', `/api/indicators?value=${encodeURIComponent(value)}`);

/** Reads how each export shows the network: the block list, the status in the CSV, `to_ids` and `deleted` in MISP, and its STIX objects. */
async function readExports(org: TestOrg, id: string) {
  const blocked = await callOk(org, 'GET', '/api/feed/export/blocklist?type=cidr&minConfidence=0');
  const csv = String(await callOk(org, 'GET', '/api/feed/export/csv')).split('\r\n');
  const { Event } = await callOk(org, 'GET', `/api/feed/export/misp/${toMispEventId(id)}.json`);
  const attribute = Event.Attribute.find(({ value }: { value: string }) => value === network);
  const { objects = [] } = await callOk(org, 'GET', '/api/feed/export/stix');
  const stix = objects.filter(({ name }: { name?: string }) => name === network);
  return {
    isBlocked: String(blocked).includes(network),
    csv: csv.find((line) => line.startsWith(`${network},cidr,`))?.split(',')[2],
    misp: [attribute.to_ids, attribute.deleted ?? false],
    stix: stix.map((object: { revoked?: boolean }) => object.revoked ?? false),
  };
}

const exportsByStatus = {
  active: { isBlocked: true, csv: 'active', misp: [true, false], stix: [false] },
  expired: { isBlocked: false, csv: 'expired', misp: [false, false], stix: [true] },
  revoked: { isBlocked: false, csv: 'revoked', misp: [false, true], stix: [true] },
  false_positive: { isBlocked: false, csv: 'false_positive', misp: [false, true], stix: [] },
} as const;

test.each(['expired', 'revoked', 'false_positive'] as const)(
  'a network that the organization calls %s is so everywhere',
  async (status) => {
    const org = await app.newOrg();
    const id = await addEvent(org, `zq-${status.replace('_', '-')}`);
    expect(await readExports(org, id)).toEqual(exportsByStatus.active);
    const detail = await override(org, id, [{ type: 'cidr', value: '45.9.148[.]9/24', status }]);
    const own = [{ type: 'cidr', value: network, status }];
    expect(detail.tenantOverrides.indicators).toEqual(own);
    expect((await callOk(org, 'GET', '/items')).items[0].tenantOverrides.indicators).toEqual(own);
    expect(await lookUp(org, network)).toMatchObject({ status, items: [{ status, why: 'set by the organization' }] });
    expect(await lookUp(org, inside)).toMatchObject({ status: 'unknown', covering: [{ value: network, status }] });
    expect(await lookUp(org, mail)).toMatchObject({ status: 'active' });
    expect(await readExports(org, id)).toEqual(exportsByStatus[status]);
    await override(org, id, null);
    expect(await lookUp(org, inside)).toMatchObject({ status: 'active', match: 'network' });
    expect(await readExports(org, id)).toEqual(exportsByStatus.active);
  },
);

test('overrides other values without a bucket, and refuses unknown ones', async () => {
  const org = await app.newOrg();
  const id = await addEvent(org, 'zq-others');
  await override(org, id, [{ type: 'email-src', value: 'Drop@ZQ-Mail[.]top', status: 'false_positive' }]);
  expect(await lookUp(org, mail)).toMatchObject({ status: 'false_positive', items: [{ status: 'false_positive' }] });
  for (const indicator of [
    { type: 'cidr', value: '45.9.149.0/24' },
    { type: 'email', value: mail },
  ]) {
    const body = { indicators: [{ ...indicator, status: 'revoked' }] };
    const { status, body: problem } = await org.call('PUT', `/api/feed/items/${id}/override`, body);
    expect([status, problem.errors[0].pointer]).toEqual([400, '/indicators/0/value']);
  }
});

test('sweeps search neither a network that the organization calls harmless nor the same network of another item', async () => {
  const sighted = async (isHarmless: boolean): Promise<number> => {
    const org = await app.newOrg();
    const event = { _id: '1', timestamp: now.toISOString(), dest_ip: inside };
    await sendEvents(org, 'proxy', [event], { isHistory: false });
    await sweep();
    const first = await addEvent(org, 'zq-first');
    if (isHarmless) await override(org, first, [{ type: 'cidr', value: network, status: 'false_positive' }]);
    const second = await addEvent(org, 'zq-second');
    await sweep();
    const found = [first, second].map((id) => callOk(org, 'GET', `/api/feed/items/${id}/sightings`));
    return (await Promise.all(found)).flatMap(({ sightings }) => sightings).length;
  };
  expect([await sighted(false), await sighted(true)]).toEqual([2, 0]);
});

test('revokes an indicator that arrived as STIX with its network', async () => {
  const org = await app.newOrg();
  const stamp = '2024-01-01T00:00:00.000Z';
  const common = { spec_version: '2.1', created: stamp, modified: stamp };
  const indicator = {
    type: 'indicator',
    id: 'indicator--00000000-0000-4000-8000-000000000001',
    ...common,
    name: 'Their network',
    pattern: `[ipv4-addr:value ISSUBSET '${network}']`,
    pattern_type: 'stix',
    valid_from: stamp,
  };
  const bundle = { type: 'bundle', id: 'bundle--00000000-0000-4000-8000-000000000002', objects: [indicator] };
  const source = { kind: 'stix', name: 'zq', tlp: 'CLEAR' };
  expect(await pullDocument(callerOf(org), source, JSON.stringify(bundle))).toMatchObject({ added: 1 });
  const [item] = (await callOk(org, 'GET', '/items')).items;
  const read = async () => {
    const { objects = [] } = await callOk(org, 'GET', '/api/feed/export/stix');
    return objects.filter(({ id }: { id: string }) => id === indicator.id);
  };
  expect(await read()).toEqual([indicator]);
  await override(org, item.id, [{ type: 'cidr', value: network, status: 'false_positive' }]);
  expect(await read()).toMatchObject([{ ...indicator, modified: expect.not.stringMatching(stamp), revoked: true }]);
});
