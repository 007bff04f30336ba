import { afterEach, beforeAll, expect, test } from 'vitest';
import { kevCatalogWith } from '../../../test/support/feed/kev-document.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { matchWaiting } from '../../detection/continuous/match-loop.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { callerOf, connectOpenSearch, sendEvents } from '../../../test/support/org-requests.ts';
import { pullDocument } from '../../../test/support/api-client.ts';
import { startApp, type TestApp, type TestOrg } from '../../../test/support/harness.ts';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { selectIn } from '../../../test/support/select-rows.ts';
import { domains, pullOnce, stixReport } from '../../../test/support/feed/grouped-reports.ts';
import { deliverDue } from '../../platform/notifications/deliver.ts';
import { isSigned, startReceiver } from '../../../test/support/platform/webhook-receiver.ts';
import { syncSweepsAcrossOrgs } from './sightings.store.ts';
import { compareNext, createUnknownValues } from './arriving-sightings.ts';
import { openPositionsAcrossOrgs } from '../../detection/continuous/match-positions.store.ts';
import { sweepDue } from './sweep.ts';

let app: TestApp;
let now = new Date('2024-02-01T10:20:30.000Z');
beforeAll(async () => {
  app = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' }, clock: () => now });
});

/** The organizations of the test that runs. */
const orgIds: string[] = [];
afterEach(() => void orgIds.splice(0));
async function newOrg(): Promise<TestOrg> {
  const org = await app.newOrg();
  orgIds.push(org.id);
  return org;
}

/** Makes every sweep of the test due and runs sweeps until none is left. */
async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(app.deps.db);
  await selectIn(app.deps.db)`
    update feed_sweeps set due_at = case when organization_id = any(${orgIds}::uuid[]) then clock_timestamp() else 'infinity' end`;
  for (let step = 0; step < 200 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
}

async function log(org: TestOrg, dataset: string, events: object[]): Promise<void> {
  const timestamp = new Date(app.deps.clock().getTime() - 60_000).toISOString();
  await sendEvents(org, dataset, events.map((event) => ({ timestamp, ...event })), { isHistory: false }); // prettier-ignore
}

/** An event of the dataset `dns` about a name. */
const dns = (name: string, more: object = {}): object => ({ dns: { question: { name } }, ...more });
const talksTo = (host: string): string => `The implants talk to their command and control server ${host} every hour.`;
const post = async (org: TestOrg, title: string, text: string) =>
  (await org.call('POST', '/api/feed/items', { text, title })).body;
const override = async (org: TestOrg, id: string, body: object): Promise<void> => {
  expect((await org.call('PUT', `/api/feed/items/${id}/override`, body)).status).toBe(200);
};
const overridesOf = async (org: TestOrg, id: string) => (await org.call('GET', `/items/${id}`)).body.tenantOverrides;

const idOf = async (org: TestOrg, title: string): Promise<string> =>
  (await org.call('GET', '/items?perPage=100')).body.items.find(
    (item: { event: { title: string } }) => item.event.title === title,
  ).id;
const sightings = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/api/feed/items/${id}/sightings`)).body.sightings;

test('marks an item as exposed once, and only for the organization whose logs contain its indicator, with one webhook', async () => {
  const receiver = await startReceiver();
  atFileEnd(() => receiver.close());
  const [owner, org, other] = [await newOrg(), await newOrg(), await newOrg()];
  const values = domains(9_100, 6);
  await log(org, 'dns', [
    dns(values[0]!.toUpperCase(), { _id: 'one', user: 'ada' }),
    dns('quiet.example.org', { _id: 'two', user: 'bob' }),
  ]);
  await log(org, 'notes', [{ note: values[0] }]);
  await log(other, 'dns', [dns('quiet.example.org', { _id: 'three' })]);
  const webhook = { kind: 'webhook', url: receiver.url, eventTypes: ['feed.item.exposed'] };
  const { secret } = await callOk(org, 'POST', '/api/destinations', { ...webhook, name: 'SOC' });
  await callOk(org, 'POST', '/api/destinations', { ...webhook, name: 'Critical', minSeverity: 'critical' });
  await callOk(other, 'POST', '/api/destinations', { ...webhook, name: 'Elsewhere' });
  await sweep();
  await pullOnce(app, owner, { kind: 'stix', content: stixReport(9_100, values), visibility: 'shared', tlp: 'CLEAR' });
  const before = (await other.call('GET', '/items')).headers['etag'];
  await sweep();
  const id = await idOf(org, 'Report 9100');
  const found = await sightings(org, id);
  expect((await org.call('GET', '/api/feed/sweeps')).body.sweeps).toMatchObject([{ failures: 0, lastError: null }]);
  expect(found).toMatchObject([{ connectionId: org.id, dataset: 'dns', type: 'domain', value: values[0] }]);
  expect(JSON.parse(found[0].event)).toMatchObject({ user: 'ada' });
  const reasons = [{ kind: 'indicator', matched: values[0] }];
  expect((await overridesOf(org, id)).relevance).toMatchObject({ verdict: 'exposed', judgedBy: 'logs', reasons });
  expect(await sightings(other, id)).toEqual([]);
  expect((await other.call('GET', '/items')).headers['etag']).toBe(before);
  expect(await overridesOf(other, id)).toBeNull();
  await deliverDue(app.deps);
  const { version } = (await org.call('GET', `/items/${id}`)).body;
  // A change of the item repeats the search. The row is already stored.
  await override(org, id, { note: 'known' });
  await sweep();
  expect(await sightings(org, id)).toHaveLength(1);
  await deliverDue(app.deps);
  expect(receiver.received).toHaveLength(1);
  const [delivery] = receiver.received;
  expect(isSigned(delivery!, secret)).toBe(true);
  const indicators = [{ type: 'domain', value: values[0], dataset: 'dns' }];
  expect(JSON.parse(delivery!.body)).toMatchObject({
    type: 'feed.item.exposed',
    organizationId: org.id,
    revision: version,
    data: { id, event: { title: 'Report 9100' }, sighting: { connectionId: org.id, indicators } },
  });
  await override(org, id, { relevance: { verdict: 'irrelevant' } });
  expect((await overridesOf(org, id)).relevance.verdict).toBe('irrelevant');
});

test('searches neither for what an organization retracted or calls a false positive, nor in logs for which sweeps are off', async () => {
  const [owner, org, other, off] = [await newOrg(), await newOrg(), await newOrg(), await newOrg()];
  expect((await off.call('PUT', '/api/feed/profile', { sweep: false })).body.sweep).toBe(false);
  const values = domains(9_300, 6);
  const events = [{ dest_ip: '91.92.240.77' }, { dest_ip: '91.92.240.79' }, dns(values[0]!)];
  for (const each of [org, other, off]) await log(each, 'web', events);
  await sweep();
  await pullOnce(app, owner, { kind: 'stix', content: stixReport(9_300, values), visibility: 'shared', tlp: 'CLEAR' });
  const shared = await idOf(org, 'Report 9300');
  await override(org, shared, { status: 'retracted' });
  const text = 'The group used the server at 91.92.240[.]77 to control its implants, and ran a second host for weeks.';
  const [searched, unsearched] = [await post(org, 'Server', text), await post(off, 'Server', text)];
  expect(searched.iocs.ipv4).toMatchObject([{ status: 'active' }]);
  const denied = await post(org, 'Other', `${text} So it was.`.replace('77', '79'));
  await override(org, denied.id, { indicators: [{ type: 'ipv4', value: '91.92.240.79', status: 'false_positive' }] });
  await sweep();
  expect([await sightings(org, searched.id), await sightings(other, shared)]).toMatchObject([[{}], [{}]]);
  for (const id of [shared, denied.id]) expect(await sightings(org, id)).toEqual([]);
  for (const id of [shared, unsearched.id]) expect(await sightings(off, id)).toEqual([]);
});

test('does not search for an expired indicator after its item changes', async () => {
  const org = await newOrg();
  const before = now;
  const old = await post(org, 'Old', talksTo('gone-host[.]top'));
  await log(org, 'dns', [dns('quiet.example.org')]);
  await sweep();
  now = new Date(now.getTime() + 200 * 86_400_000);
  await log(org, 'dns', [dns('gone-host.top'), dns('here-host.top')]);
  const fresh = await post(org, 'Fresh', talksTo('here-host[.]top'));
  const merged = await org.call('POST', `/api/feed/items/${old.id}/merge`, { into: fresh.id });
  expect(merged.body.duplicateOf).toBe(fresh.id);
  await sweep();
  expect([await sightings(org, old.id), (await sightings(org, fresh.id)).length]).toEqual([[], 1]);
  now = before;
});

test('reports a SIEM that is down and retries it', async () => {
  const org = await newOrg();
  const { siem, id } = await connectOpenSearch(org);
  await sweep();
  siem.answerWith(503);
  await post(org, 'x', 'It was controlled from 91.92.240[.]78 for a long time.');
  await sweep();
  const state = async () =>
    (await org.call('GET', '/api/feed/sweeps')).body.sweeps.find(
      ({ connectionId }: { connectionId: string }) => connectionId === id,
    );
  expect(await state()).toMatchObject({ failures: 1, lastError: expect.any(String) });
  siem.answerWith(200);
  await sweep();
  expect(await state()).toMatchObject({ failures: 0, lastError: null });
});

test('moves the cursor to the end without reading items if the log store is empty', async () => {
  const org = await newOrg();
  await sweep();
  await pullDocument(callerOf(org), { kind: 'kev', name: 'Reports' }, kevCatalogWith('passed by', 60));
  await selectIn(app.deps.db)`update feed_sweeps set due_at = 'epoch' where organization_id = ${org.id}`;
  await sweepDue(app.deps, new AbortController().signal);
  const [found] = await selectIn(app.deps.db)<{ at: [number, string]; seq: number }>`
        select s.cursor::jsonb -> p.id::text as at, p.seq from feed_sweeps s
        join feed_pools p on p.organization_id = s.organization_id and p.kind = 'private' where s.organization_id = ${org.id}`;
  expect(found!.at).toEqual([found!.seq, 'ffffffff-ffff-ffff-ffff-ffffffffffff']);
});

/** Compares everything that has arrived with the indicators of the feed. */
async function compareArrived(unknown = createUnknownValues()): Promise<void> {
  await openPositionsAcrossOrgs(app.deps.db, 'indicators');
  while (await compareNext(app.deps, unknown, new AbortController().signal));
}

test('finds the indicators that are known in events when they arrive, as a sweep does, and those of other organizations never', async () => {
  const [org, other] = [await newOrg(), await newOrg()];
  const unknown = createUnknownValues();
  await sweep();
  await log(org, 'proxy', [{ dest_ip: '203.0.113.200', url: 'http://quiet.example.org/a' }]);
  await compareArrived(unknown);
  const text = [
    'The implants talk to their command and control server arriving-host[.]top every hour, and to 91.92.241[.]5 as well.',
    'They load hxxp://91.92.241[.]6/Stage/Two.bin and hxxp://arriving-files[.]top/Payload.bin, and use all of the network 45.137.20.0/24.',
  ].join(' ');
  const item = await post(org, 'Arriving', text);
  await override(org, item.id, { note: 'read' });
  const events = [
    { _id: 'exact', dest_ip: '91.92.241.5' },
    dns('C2.Arriving-Host.top', { _id: 'below' }),
    { _id: 'host', url: 'https://91.92.241.5:8443/x' },
    { _id: 'path', url: 'http://arriving-files.top/Payload.bin' },
    { _id: 'of-url', dest_ip: '91.92.241.6' },
    { _id: 'network', dest_ip: '45.137.20.77' },
    { _id: 'quiet', dest_ip: '45.137.21.77', url: 'http://arriving-files.top/other' },
  ];
  for (const one of [org, other]) await log(one, 'proxy', events);
  await compareArrived(unknown);
  const listFound = async (): Promise<string[]> =>
    (await sightings(org, item.id)).map((one: Record<string, string>) => `${one['match']} ${one['value']}`).toSorted();
  const list = await listFound();
  expect(await selectIn(app.deps.db, other.id)`select 1 as one from feed_sightings`).toEqual([]);
  // A sweep finds the same and adds nothing.
  const select = selectIn(app.deps.db, org.id);
  await select`delete from feed_sightings`;
  await select`update feed_sweeps set cursor = '{}' where organization_id = ${org.id}`;
  await sweep();
  expect(list).toEqual(await listFound());
  expect(list).toEqual(
    expect.arrayContaining(['exact 91.92.241.5', 'parent_domain arriving-host.top', 'network 45.137.20.0/24']),
  );
  expect((await overridesOf(org, item.id)).relevance.verdict).toBe('exposed');
});

/** Creates an organization that is swept and has the detection of sightings. */
async function newOrgThatDetects(): Promise<TestOrg> {
  const org = await newOrg();
  await sweep();
  await callOk(org, 'POST', '/api/detections/library/install', { ids: ['feed-indicator-sighted'] });
  await matchWaiting(app.deps);
  return org;
}

async function runDetection(): Promise<void> {
  await matchWaiting(app.deps);
  await executeDueRuns(app.deps, now, { skipWaiting: true });
}

test('withdraws sightings of values that turn out to be harmless or retracted, and the exposure with the last of them', async () => {
  const org = await newOrgThatDetects();
  const names = ['first', 'second', 'third'];
  const ids: string[] = [];
  for (const name of names) ids.push((await post(org, name, talksTo(`${name}-host[.]top`))).id);
  const [retracted, harmless, other] = ids as [string, string, string];
  const events = names.map((name) => dns(`${name}-host.top`));
  await log(org, 'dns', events);
  await compareArrived();
  const state = async (id: string) => [
    (await sightings(org, id)).length,
    (await overridesOf(org, id))?.relevance?.verdict ?? null,
  ];
  for (const id of [retracted, harmless, other]) expect(await state(id)).toEqual([1, 'exposed']);
  await runDetection();
  type Hit = { id: string; entity: string; status: string };
  const hits = async (): Promise<Hit[]> => (await callOk(org, 'GET', '/api/hits')).hits;
  const statuses = async () => (await hits()).map(({ entity, status }) => `${entity} ${status}`).toSorted();
  expect(await statuses()).toEqual(['first-host.top open', 'second-host.top open', 'third-host.top open']);
  const [first, second] = (await hits()).toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
  await callOk(org, 'POST', `/api/hits/${second!.id}/status`, { status: 'benign', reason: 'A test.' });
  await override(org, retracted, { status: 'retracted' });
  const indicators = [{ type: 'domain', value: 'second-host.top', status: 'false_positive' }];
  await override(org, harmless, { indicators });
  await sweep();
  for (const id of [retracted, harmless]) expect(await state(id)).toEqual([0, null]);
  expect(await state(other)).toEqual([1, 'exposed']);
  // What people decided stays.
  const after = ['first-host.top outdated', 'second-host.top benign', 'third-host.top open'];
  expect(await statuses()).toEqual(after);
  for (const { id } of [first!, second!])
    expect((await callOk(org, 'GET', `/api/hits/${id}`)).history[0].reason).toContain('The sighting was withdrawn');
  await log(org, 'dns', events.slice(0, 2));
  await compareArrived();
  for (const id of [retracted, harmless]) expect(await state(id)).toEqual([0, null]);
  await runDetection();
  expect(await statuses()).toEqual(after);
});

test('turns the sighting of a file name in a path into one hit, whatever repeats it', async () => {
  const org = await newOrgThatDetects();
  const timestamp = String(now.getTime() / 1000 - 86_400);
  const values = [['filename', 'zq9loader.exe'], ['ip-dst', '45.155.205.77']] as const; // prettier-ignore
  const stated = values.map(([type, value]) => mispAttribute(type, value, { timestamp }));
  const event = mispEvent('zq9', { Attribute: stated, Object: [], timestamp, date: now.toISOString().slice(0, 10) });
  await pullDocument(callerOf(org), { kind: 'misp', name: 'Files' }, JSON.stringify(event));
  await sweep();
  const events = [
    { _id: 'file', Image: String.raw`C:\Users\ada\ZQ9Loader.exe` },
    { _id: 'other', Image: String.raw`C:\Users\ada\other-zq9loader.exe` },
    { _id: 'both', dest_ip: '45.155.205.77' },
  ];
  await log(org, 'windows', events);
  await Promise.all([compareArrived(), compareArrived(), compareArrived()]);
  const select = selectIn(app.deps.db, org.id);
  // A position that was lost, as after a restore of an older backup, and a sweep find the same rows.
  await select`update match_positions set matched_to = 'epoch' where reader = 'indicators'`;
  await compareArrived();
  await select`update feed_sweeps set cursor = '{}' where organization_id = ${org.id}`;
  await sweep();
  for (let slot = 0; slot < 2; slot += 1) {
    await runDetection();
    now = new Date(now.getTime() + 3_600_000);
  }
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual(['45.155.205.77', 'zq9loader.exe']);
  expect(await select`select 1 as one from candidates`).toHaveLength(2);
});
