import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { whileServing } from '../../../test/support/listen.ts';
import { kevCatalogWith } from '../../../test/support/feed/kev-document.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { uuidv7 } from '../lib/ids.ts';
import { SiemError } from '../../detection/siem/connector.ts';
import { eventTypes, type EventBody } from './event-types.ts';

const { db, url } = await testDatabase();
const runs = await startRuns({ db, url }, () => [
  { _id: '1', _time: '2026-03-02T00:30:00Z', user: 'root', action: 'login' },
]);

async function eventsOf(type: string): Promise<EventBody[]> {
  const found = await runs.select<{ body: string }>`select body from outbox where type = ${type} order by at, id`;
  return found.map(({ body }) => JSON.parse(body) as EventBody);
}

test('emits events for runs, hits and gaps in the transaction of the change', async () => {
  // Nothing is sent in this test, so the secrets can stay empty.
  await runs.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${runs.orgId}, ${uuidv7()}, 'webhook', 'x', 'x', ''::bytea, ${[...eventTypes]}::text[], now(), now())`;
  const id = await runs.newDetection({ suppressionMinutes: 0 });
  await runs.runAt('2026-03-02T01:05:00Z');
  const [completed] = await eventsOf('run.completed');
  expect(completed).toMatchObject({
    organizationId: runs.orgId,
    data: { detectionId: id, status: 'completed', hitCount: 1, triggered: true, rowsTotal: 1 },
  });
  const [created] = await eventsOf('hit.created');
  expect(created).toMatchObject({
    revision: 1,
    data: { detectionId: id, entity: 'root', status: 'open', occurrenceCount: 1 },
  });
  expect(created!.data).toMatchObject({
    detection: { name: 'Root logs in', tags: [], techniques: [] },
    facts: { rows: 1 },
    url: `/console/hits/${(created!.data as { id: string }).id}`,
    rows: [{ fields: { user: 'root' } }],
  });
  expect(await eventsOf('hit.updated')).toEqual([]);
  // Two days later only the windows within the lookback can still be examined.
  await runs.runAt('2026-03-04T01:05:00Z');
  const gaps = await eventsOf('gap.opened');
  expect(gaps).toHaveLength(1);
  expect(gaps[0]!.data).toMatchObject({
    detectionId: id,
    from: '2026-03-02T01:00:00.000Z',
    reason: 'late',
    state: 'open',
  });
});

test('emits the reason of failed runs and an event when they disable the detection', async () => {
  const broken = await startRuns({ db, url }, () => {
    throw new SiemError({ kind: 'query_invalid', blame: 'author', retryable: false, message: 'no such column' });
  });
  const types = ['run.failed', 'detection.disabled', 'detection.updated'];
  await broken.select`
    insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
    values (${broken.orgId}, ${uuidv7()}, 'webhook', 'x', 'x', ''::bytea, ${types}::text[], now(), now())`;
  await broken.newDetection();
  for (const hour of [1, 2, 3, 4]) await broken.runAt(`2026-03-02T0${hour}:05:00Z`);
  const found = await broken.select<{ body: string }>`select body from outbox order by at, id`;
  const events = found.map(({ body }) => JSON.parse(body) as EventBody);
  expect(events.map(({ type }) => type).toSorted()).toEqual([
    'detection.disabled',
    'run.failed',
    'run.failed',
    'run.failed',
  ]);
  expect(events.find(({ type }) => type === 'run.failed')!.data).toMatchObject({ failure: { kind: 'query_invalid' } });
  expect(events.find(({ type }) => type === 'detection.disabled')!.data).toMatchObject({
    enabled: false,
    disabledReason: expect.stringContaining('no such column'),
  });
});

test('emits feed events only to organizations that see the item, and none for the first load of a source', async () => {
  const { newOrg, deps } = await startApp({ env: { TOCSIN_FETCH_ALLOW: '127.0.0.1' } });
  const [owner, other] = [await newOrg(), await newOrg()];
  const body = { kind: 'webhook', name: 'x', url: 'https://hooks.example.com/', eventTypes };
  for (const org of [owner, other]) expect((await org.call('POST', '/api/destinations', body)).status).toBe(200);
  const low = await owner.call('POST', '/api/destinations', { ...body, minSeverity: 'critical' });
  const typesOf = async (org: typeof owner): Promise<string[]> => {
    const { destinations } = (await org.call('GET', '/api/destinations')).body;
    const id = destinations.at(-1).id;
    const { deliveries } = (await org.call('GET', `/api/destinations/${id}/deliveries?limit=200`)).body;
    return deliveries.map(({ eventType }: { eventType: string }) => eventType).toSorted();
  };
  const source = await whileServing(kevCatalogWith('Gate'), async (at) => {
    const made = (await owner.call('POST', '/api/feed/sources', { kind: 'kev', name: 'x', url: at })).body;
    expect((await owner.call('POST', `/api/feed/sources/${made.id}/pull`)).body.added).toBe(3);
    return made;
  });
  expect(await typesOf(owner)).toEqual(['feed.source.pulled']);
  await whileServing(kevCatalogWith('Gate again', 4), async (at) => {
    await owner.call('PUT', `/api/feed/sources/${source.id}`, { url: at });
    await owner.call('POST', `/api/feed/sources/${source.id}/pull`);
  });
  expect(await typesOf(owner)).toEqual([
    'feed.item.added',
    'feed.item.corrected',
    'feed.item.corrected',
    'feed.item.corrected',
    'feed.source.pulled',
    'feed.source.pulled',
  ]);
  expect(await typesOf(other)).toEqual([]);
  const { deliveries } = (await owner.call('GET', `/api/destinations/${low.body.id}/deliveries`)).body;
  const ofItems = deliveries.filter(({ eventType }: { eventType: string }) => eventType.startsWith('feed.item.'));
  expect(ofItems.length).toBeLessThan(4);
  expect(deps.config.fetchAllow).toEqual(['127.0.0.1']);
});
