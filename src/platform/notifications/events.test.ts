import { expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { whileServing } from '../../../test/support/listen.ts';
import { kevCatalogWith } from '../../../test/support/feed/kev-document.ts';
import { startApp } from '../../../test/support/harness.ts';
import { startRuns } from '../../../test/support/detection/scripted-runs.ts';
import { sql } from 'kysely';
import { compileWorkingHours } from '../../detection/analysis/analyze-window.ts';
import { putValueList, removeValueList } from '../../detection/value-lists/value-lists.ts';
import { inOrg, queryRows } from '../db/db.ts';
import { uuidv7 } from '../lib/ids.ts';
import { days } from '../lib/schema-parts.ts';
import { emitEvents, isWithinHours } from './emit-events.ts';
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

test('selects hits and incidents by the tags of the detection, the lists of the entity, and the hour', async () => {
  const routed = await startRuns({ db, url }, ({ window }) =>
    ['root', 'ada'].map((user) => ({ _id: `${user} ${window.from.toISOString()}`, user })),
  );
  const { deps, caller, orgId, select } = routed;
  await putValueList(deps, caller, 'admins', { description: '', values: ['ROOT'] });
  const today = new Date().getUTCDay();
  const other = days[(today + 2) % 7]!;
  const always = { timeZone: 'UTC', days: [...days], from: '00:00', to: '00:00' };
  const filters: [string, { tags?: string[]; lists?: string[]; hours?: object }][] = [
    ['admins', { lists: ['admins'] }],
    ['tagged', { tags: ['tier-0', 'night'] }],
    ['other tag', { tags: ['night'] }],
    ['now', { hours: always, lists: ['admins'], tags: ['tier-0'] }],
    ['another day', { hours: { ...always, days: [other] } }],
  ];
  for (const [name, { tags, lists, hours }] of filters)
    await select`
      insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, tags, entity_lists, hours, created_at, updated_at)
      values (${orgId}, ${uuidv7()}, 'webhook', ${name}, 'x', ''::bytea, ${['hit.created', 'incident.created']}::text[], ${tags ?? null}::text[],
        ${lists ?? null}::text[], ${hours ? JSON.stringify(hours) : null}::jsonb, now(), now())`;
  await routed.newDetection({ tags: ['tier-0'], entityField: 'user' });
  expect(await routed.runAt('2026-03-02T01:05:00Z')).toBe(1);
  expect(await select`select entity from hits order by 1`).toEqual([{ entity: 'ada' }, { entity: 'root' }]);
  const sent = await select<{ sent: string }>`
    select d.name || ' ' || (o.body::jsonb -> 'data' ->> 'entity') as sent from deliveries y join destinations d on d.id = y.destination_id
    join outbox o on o.id = y.event_id where y.organization_id = ${orgId} order by 1`;
  expect(sent.map((row) => row.sent)).toEqual(['admins root', 'now root', 'tagged ada', 'tagged root']);
  await expect(removeValueList(deps, caller, 'admins')).rejects.toThrow('destination admins');
  const incidents = [
    { id: uuidv7(), root: true },
    { id: uuidv7(), root: false },
  ];
  await inOrg(deps.db, orgId, (tx) =>
    emitEvents(tx, [orgId], ['incident.created'], () =>
      incidents.map(({ id, root }) => ({
        orgId,
        type: 'incident.created',
        resourceId: id,
        revision: 1,
        data: {},
        lists: root ? ['admins', 'more'] : [],
      })),
    ),
  );
  const of = await select<{ name: string }>`
    select d.name || ' ' || y.resource_id as name from deliveries y join destinations d on d.id = y.destination_id
    where y.organization_id = ${orgId} and y.event_type = 'incident.created' order by 1`;
  // Incidents have no tags.
  const [first, second] = incidents.map(({ id }) => id);
  expect(of.map(({ name }) => name).toSorted()).toEqual(
    [
      `admins ${first}`,
      `now ${first}`,
      ...[first, second].flatMap((id) => [`tagged ${id}`, `other tag ${id}`]),
    ].toSorted(),
  );
});

test('hours of a destination agree with the working hours of a detection', async () => {
  const time = (hour: number): string => `${String(hour % 24).padStart(2, '0')}:30`;
  // Daylight saving time begins within these days.
  const some = Array.from({ length: 200 }, (_, n) => ({
    hours: {
      timeZone: 'Europe/Oslo',
      days: days.filter((_day, at) => (n >> at) & 1),
      from: time(n * 7),
      to: time(n * 11),
    },
    at: new Date(Date.UTC(2030, 2, 28) + n * 43 * 60_000),
  }));
  const found = await inOrg(
    runs.deps.db,
    runs.orgId,
    (tx) =>
      queryRows<{ is: boolean }>(tx)`${sql.join(
        some.map(({ hours, at }) => sql`select ${isWithinHours(sql`${JSON.stringify(hours)}::jsonb`, at)} as is`),
        sql` union all `,
      )}`,
  );
  expect(found.map(({ is }) => is)).toEqual(some.map(({ hours, at }) => compileWorkingHours(hours)(at)));
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
