import { beforeAll, expect, test } from 'vitest';
import { kevCatalogWith } from '../../../test/support/feed/kev-document.ts';
import { callOk } from '../../../test/support/detection/detection-factory.ts';
import { mispAttribute, mispEvent } from '../../../test/support/feed/misp-documents.ts';
import { matchWaiting } from '../../detection/continuous/match-loop.ts';
import { executeDueRuns } from '../../detection/runs/workers/run-loops.ts';
import { callerOf, connectOpenSearch, sendEvents } from '../../../test/support/org-requests.ts';
import { pullDocument } from '../../../test/support/api-client.ts';
import { startApp, type TestApp, type TestOrg } from '../../../test/support/harness.ts';
import { sql } from 'kysely';
import { atFileEnd } from '../../../test/support/at-file-end.ts';
import { acrossOrgs } from '../../platform/db/db.ts';
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

/** Makes every sweep due and runs sweeps until none is left. */
async function sweep(): Promise<void> {
  now = new Date(now.getTime() + 60_000);
  await syncSweepsAcrossOrgs(app.deps.db);
  await acrossOrgs(app.deps.db, (tx) => sql`update feed_sweeps set due_at = clock_timestamp()`.execute(tx));
  for (let step = 0; step < 200 && (await sweepDue(app.deps, new AbortController().signal)); step += 1);
}

async function log(org: TestOrg, dataset: string, events: object[]): Promise<void> {
  const timestamp = new Date(app.deps.clock().getTime() - 60_000).toISOString();
  const timedEvents = events.map((event) => ({ timestamp, ...event }));
  await sendEvents(org, dataset, timedEvents, { isHistory: false });
}

const idOf = async (org: TestOrg, title: string): Promise<string> =>
  (await org.call('GET', '/items?perPage=100')).body.items.find(
    (item: { event: { title: string } }) => item.event.title === title,
  ).id;
const sightings = async (org: TestOrg, id: string) =>
  (await org.call('GET', `/api/feed/items/${id}/sightings`)).body.sightings;

test('marks an item as exposed once, and only for the organization whose logs contain its indicator', async () => {
  const [owner, org, other] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const values = domains(9_100, 6);
  await log(org, 'dns', [
    { _id: 'one', dns: { question: { name: values[0]!.toUpperCase() } }, user: 'ada' },
    { _id: 'two', dns: { question: { name: 'quiet.example.org' } }, user: 'bob' },
  ]);
  await log(org, 'notes', [{ note: values[0] }]);
  await log(other, 'dns', [{ _id: 'three', dns: { question: { name: 'quiet.example.org' } } }]);
  await sweep();
  await pullOnce(app, owner, { kind: 'stix', content: stixReport(9_100, values), visibility: 'shared', tlp: 'CLEAR' });
  const before = (await other.call('GET', '/items')).headers['etag'];
  await sweep();
  const id = await idOf(org, 'Report 9100');
  const found = await sightings(org, id);
  expect((await org.call('GET', '/api/feed/sweeps')).body.sweeps).toMatchObject([{ failures: 0, lastError: null }]);
  expect(found).toMatchObject([{ connectionId: org.id, dataset: 'dns', type: 'domain', value: values[0] }]);
  expect(JSON.parse(found[0].event)).toMatchObject({ user: 'ada' });
  const { relevance } = (await org.call('GET', `/items/${id}`)).body.tenantOverrides;
  expect(relevance).toMatchObject({
    verdict: 'exposed',
    judgedBy: 'logs',
    reasons: [{ kind: 'indicator', matched: values[0] }],
  });
  expect(await sightings(other, id)).toEqual([]);
  expect((await other.call('GET', '/items')).headers['etag']).toBe(before);
  expect((await other.call('GET', `/items/${id}`)).body.tenantOverrides).toBeNull();
  // A change of the item repeats the search. The row is already stored.
  await org.call('PUT', `/api/feed/items/${id}/override`, { note: 'known' });
  await sweep();
  expect(await sightings(org, id)).toHaveLength(1);
  await org.call('PUT', `/api/feed/items/${id}/override`, { relevance: { verdict: 'irrelevant' } });
  expect((await org.call('GET', `/items/${id}`)).body.tenantOverrides.relevance.verdict).toBe('irrelevant');
});

test('sends one webhook for an exposed item with its sightings, to its organization only', async () => {
  const receiver = await startReceiver();
  atFileEnd(() => receiver.close());
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  const webhook = { kind: 'webhook', url: receiver.url, eventTypes: ['feed.item.exposed'] };
  const { secret } = (await org.call('POST', '/api/destinations', { ...webhook, name: 'SOC' })).body;
  const criticalOnly = await org.call('POST', '/api/destinations', {
    ...webhook,
    name: 'Critical',
    minSeverity: 'critical',
  });
  const others = await other.call('POST', '/api/destinations', { ...webhook, name: 'Elsewhere' });
  expect([criticalOnly.status, others.status]).toEqual([200, 200]);
  await log(org, 'dns', [{ _id: 'one', dns: { question: { name: 'exposed-host.top' } } }]);
  await sweep();
  const text = 'The implants talk to their command and control server exposed-host[.]top every hour.';
  const { body: item } = await org.call('POST', '/api/feed/items', { text, title: 'Exposed' });
  await sweep();
  await deliverDue(app.deps);
  await org.call('PUT', `/api/feed/items/${item.id}/override`, { note: 'known' });
  await sweep();
  await deliverDue(app.deps);
  expect(receiver.received).toHaveLength(1);
  const [delivery] = receiver.received;
  expect(isSigned(delivery!, secret)).toBe(true);
  expect(JSON.parse(delivery!.body)).toMatchObject({
    type: 'feed.item.exposed',
    organizationId: org.id,
    revision: item.version,
    data: {
      id: item.id,
      event: { title: 'Exposed' },
      sighting: {
        connectionId: org.id,
        indicators: [{ type: 'domain', value: 'exposed-host.top', dataset: 'dns' }],
      },
    },
  });
});

test('skips an organization that disabled sweeps, and indicators that are overridden as false positives', async () => {
  const [org, off] = [await app.newOrg(), await app.newOrg()];
  expect((await off.call('PUT', '/api/feed/profile', { sweep: false })).body.sweep).toBe(false);
  for (const each of [org, off]) {
    await log(each, 'web', [{ dest_ip: '91.92.240.77' }]);
    await log(each, 'web', [{ dest_ip: '91.92.240.79' }]);
  }
  await sweep();
  const [ids, denied]: [string[], string[]] = [[], []];
  for (const each of [org, off]) {
    const text =
      'The group used the server at 91.92.240[.]77 to control its implants, and also ran a second host for weeks.';
    const posted = await each.call('POST', '/api/feed/items', { text, title: 'Control server' });
    expect(posted.body.iocs.ipv4).toMatchObject([{ status: 'active' }]);
    ids.push(posted.body.id);
    const other = await each.call('POST', '/api/feed/items', {
      text: `${text} So it was.`.replace('77', '79'),
      title: 'Other',
    });
    const indicators = [{ type: 'ipv4', value: '91.92.240.79', status: 'false_positive' }];
    expect((await each.call('PUT', `/api/feed/items/${other.body.id}/override`, { indicators })).status).toBe(200);
    denied.push(other.body.id);
  }
  await sweep();
  expect(await sightings(org, ids[0]!)).toHaveLength(1);
  expect(await sightings(off, ids[1]!)).toEqual([]);
  for (const [index, each] of [org, off].entries()) expect(await sightings(each, denied[index]!)).toEqual([]);
});

test('does not search for an item that the organization retracted, but searches the logs of others', async () => {
  const [owner, org, other] = [await app.newOrg(), await app.newOrg(), await app.newOrg()];
  const values = domains(9_300, 6);
  for (const each of [org, other]) await log(each, 'dns', [{ dns: { question: { name: values[0] } } }]);
  await sweep();
  await pullOnce(app, owner, { kind: 'stix', content: stixReport(9_300, values), visibility: 'shared', tlp: 'CLEAR' });
  const id = await idOf(org, 'Report 9300');
  expect((await org.call('PUT', `/api/feed/items/${id}/override`, { status: 'retracted' })).status).toBe(200);
  await sweep();
  expect([await sightings(org, id), (await sightings(other, id)).length]).toEqual([[], 1]);
});

test('does not search for an expired indicator after its item changes', async () => {
  const org = await app.newOrg();
  const text = (value: string) => `The implants talk to their command and control server ${value} every hour.`;
  const before = now;
  const { body: old } = await org.call('POST', '/api/feed/items', { text: text('gone-host[.]top'), title: 'Old' });
  await log(org, 'dns', [{ dns: { question: { name: 'quiet.example.org' } } }]);
  await sweep();
  now = new Date(now.getTime() + 200 * 86_400_000);
  await log(
    org,
    'dns',
    ['gone-host.top', 'here-host.top'].map((name) => ({ dns: { question: { name } } })),
  );
  const { body: fresh } = await org.call('POST', '/api/feed/items', { text: text('here-host[.]top'), title: 'Fresh' });
  const merged = await org.call('POST', `/api/feed/items/${old.id}/merge`, { into: fresh.id });
  expect(merged.body.duplicateOf).toBe(fresh.id);
  await sweep();
  expect([await sightings(org, old.id), (await sightings(org, fresh.id)).length]).toEqual([[], 1]);
  now = before;
});

test('reports a SIEM that is down and retries it', async () => {
  const org = await app.newOrg();
  const { siem, id } = await connectOpenSearch(org);
  await sweep();
  siem.answerWith(503);
  await org.call('POST', '/api/feed/items', {
    text: 'It was controlled from 91.92.240[.]78 for a long time.',
    title: 'x',
  });
  await sweep();
  const state = async () =>
    (await org.call('GET', '/api/feed/sweeps')).body.sweeps.find(
      ({ connectionId }: { connectionId: string }) => connectionId === id,
    );
  const failed = await state();
  expect(failed.failures).toBe(1);
  expect(failed.lastError).toEqual(expect.any(String));
  siem.answerWith(200);
  await sweep();
  expect(await state()).toMatchObject({ failures: 0, lastError: null });
});

test('moves the cursor to the end without reading items if the log store is empty', async () => {
  const org = await app.newOrg();
  await sweep();
  await pullDocument(callerOf(org), { kind: 'kev', name: 'Reports' }, kevCatalogWith('passed by', 60));
  await acrossOrgs(app.deps.db, (tx) =>
    sql`update feed_sweeps set due_at = 'epoch' where organization_id = ${org.id}`.execute(tx),
  );
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
  const [org, other] = [await app.newOrg(), await app.newOrg()];
  const unknown = createUnknownValues();
  await sweep();
  await log(org, 'proxy', [{ dest_ip: '203.0.113.200', url: 'http://quiet.example.org/a' }]);
  await compareArrived(unknown);
  const text = [
    'The implants talk to their command and control server arriving-host[.]top every hour, and to 91.92.241[.]5 as well.',
    'They load hxxp://91.92.241[.]6/Stage/Two.bin and hxxp://arriving-files[.]top/Payload.bin, and use all of the network 45.137.20.0/24.',
  ].join(' ');
  const { body: item } = await org.call('POST', '/api/feed/items', { text, title: 'Arriving' });
  expect((await org.call('PUT', `/api/feed/items/${item.id}/override`, { note: 'read' })).status).toBe(200);
  const events = [
    { _id: 'exact', dest_ip: '91.92.241.5' },
    { _id: 'below', dns: { question: { name: 'C2.Arriving-Host.top' } } },
    { _id: 'host', url: 'https://91.92.241.5:8443/x' },
    { _id: 'path', url: 'http://arriving-files.top/Payload.bin' },
    { _id: 'of-url', dest_ip: '91.92.241.6' },
    { _id: 'network', dest_ip: '45.137.20.77' },
    { _id: 'quiet', dest_ip: '45.137.21.77', url: 'http://arriving-files.top/other' },
  ];
  for (const one of [org, other]) await log(one, 'proxy', events);
  await compareArrived(unknown);
  const found = await sightings(org, item.id);
  const list = found.map(({ match, value }: { match: string; value: string }) => `${match} ${value}`).toSorted();
  expect(await selectIn(app.deps.db, other.id)`select 1 as one from feed_sightings`).toEqual([]);
  // A sweep finds the same and adds nothing.
  const select = selectIn(app.deps.db, org.id);
  await select`delete from feed_sightings`;
  await select`update feed_sweeps set cursor = '{}' where organization_id = ${org.id}`;
  await sweep();
  const swept = await sightings(org, item.id);
  expect(list).toEqual(
    swept.map(({ match, value }: { match: string; value: string }) => `${match} ${value}`).toSorted(),
  );
  expect(list).toEqual(
    expect.arrayContaining(['exact 91.92.241.5', 'parent_domain arriving-host.top', 'network 45.137.20.0/24']),
  );
  expect((await org.call('GET', `/items/${item.id}`)).body.tenantOverrides.relevance.verdict).toBe('exposed');
});

test('withdraws sightings of values that turn out to be harmless or retracted, and the exposure with the last of them', async () => {
  const org = await app.newOrg();
  await sweep();
  await callOk(org, 'POST', '/api/detections/library/install', { ids: ['feed-indicator-sighted'] });
  await matchWaiting(app.deps);
  const text = (host: string) => `The implants talk to their command and control server ${host} every hour.`;
  const post = async (title: string) =>
    (await org.call('POST', '/api/feed/items', { text: text(`${title}-host[.]top`), title })).body.id as string;
  const [retracted, harmless, other] = [await post('first'), await post('second'), await post('third')];
  await log(
    org,
    'dns',
    ['first', 'second', 'third'].map((name) => ({ dns: { question: { name: `${name}-host.top` } } })),
  );
  await compareArrived();
  const state = async (id: string) => [
    (await sightings(org, id)).length,
    (await org.call('GET', `/items/${id}`)).body.tenantOverrides?.relevance?.verdict ?? null,
  ];
  for (const id of [retracted, harmless, other]) expect(await state(id)).toEqual([1, 'exposed']);
  const runDetection = async (): Promise<void> => {
    await matchWaiting(app.deps);
    await executeDueRuns(app.deps, now, { skipWaiting: true });
  };
  await runDetection();
  type Hit = { id: string; entity: string; status: string };
  const hits = async (): Promise<Hit[]> => (await callOk(org, 'GET', '/api/hits')).hits;
  const statuses = async () => (await hits()).map(({ entity, status }) => `${entity} ${status}`).toSorted();
  expect(await statuses()).toEqual(['first-host.top open', 'second-host.top open', 'third-host.top open']);
  const [first, second] = (await hits()).toSorted((a, b) => (a.entity < b.entity ? -1 : 1));
  await callOk(org, 'POST', `/api/hits/${second!.id}/status`, { status: 'benign', reason: 'A test.' });
  await org.call('PUT', `/api/feed/items/${retracted}/override`, { status: 'retracted' });
  const indicators = [{ type: 'domain', value: 'second-host.top', status: 'false_positive' }];
  await org.call('PUT', `/api/feed/items/${harmless}/override`, { indicators });
  await sweep();
  for (const id of [retracted, harmless]) expect(await state(id)).toEqual([0, null]);
  expect(await state(other)).toEqual([1, 'exposed']);
  // What people decided stays.
  const after = ['first-host.top outdated', 'second-host.top benign', 'third-host.top open'];
  expect(await statuses()).toEqual(after);
  for (const { id } of [first!, second!])
    expect((await callOk(org, 'GET', `/api/hits/${id}`)).history[0].reason).toContain('The sighting was withdrawn');
  await log(
    org,
    'dns',
    ['first', 'second'].map((name) => ({ dns: { question: { name: `${name}-host.top` } } })),
  );
  await compareArrived();
  for (const id of [retracted, harmless]) expect(await state(id)).toEqual([0, null]);
  await runDetection();
  expect(await statuses()).toEqual(after);
});

test('turns the sighting of a file name in a path into one hit, whatever repeats it', async () => {
  const org = await app.newOrg();
  await sweep();
  await callOk(org, 'POST', '/api/detections/library/install', { ids: ['feed-indicator-sighted'] });
  await matchWaiting(app.deps);
  const timestamp = String(now.getTime() / 1000 - 86_400);
  const stated = [
    mispAttribute('filename', 'zq9loader.exe', { timestamp }),
    mispAttribute('ip-dst', '45.155.205.77', { timestamp }),
  ];
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
    await matchWaiting(app.deps);
    await executeDueRuns(app.deps, now, { skipWaiting: true });
    now = new Date(now.getTime() + 3_600_000);
  }
  const { hits } = await callOk(org, 'GET', '/api/hits');
  expect(hits.map(({ entity }: { entity: string }) => entity).toSorted()).toEqual(['45.155.205.77', 'zq9loader.exe']);
  expect(await select`select 1 as one from candidates`).toHaveLength(2);
});
