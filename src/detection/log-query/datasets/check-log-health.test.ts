import { expect, test } from 'vitest';
import { sql } from 'kysely';
import { startLogStore } from '../../../../test/support/detection/log-store.ts';
import { acrossOrgs, inOrg, queryRows } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { createLogger } from '../../../platform/lib/logging/logger.ts';
import { checkLogHealth, type LogReader } from './check-log-health.ts';
import { listShortfalls } from './log-health.store.ts';

const store = await startLogStore();
const { db } = store.deps;
const longAgo = new Date('2024-05-01T00:00:00Z');

const readers: LogReader[] = [
  { id: 'a', name: 'Reads web', query: 'SELECT user FROM web' },
  { id: 'b', name: 'Mentions web', query: "SELECT user FROM auth WHERE app = 'web'" },
  { id: 'c', name: 'Does not parse', query: 'SELECT web' },
];
const deps = { ...store.deps, log: createLogger('silent'), listReaders: () => Promise.resolve(readers) };

const readEvents = async (org: OrgId): Promise<unknown[]> => {
  const rows = await acrossOrgs(
    db,
    (tx) => queryRows<{ body: string }>(tx)`select body from outbox where organization_id = ${org} order by at, id`,
  );
  return rows.map(({ body }) => JSON.parse(body));
};
const listOpen = (org: OrgId) => inOrg(db, org, (tx) => listShortfalls(tx, org));

/** Creates an organization that listens, with a dataset that received 200 events in every hour of two weeks before 2024-06-20 08:00. */
async function newOrgWithHistory(): Promise<OrgId> {
  const org = await store.newOrg();
  store.at('2024-06-05T08:00:00Z');
  await store.send(org, 'web', [{ user: 'ada' }]);
  const types = ['dataset.silent', 'dataset.reduced', 'dataset.recovered'];
  await acrossOrgs(db, async (tx) => {
    await sql`
      insert into destinations (organization_id, id, kind, name, shown_url, sealed, event_types, created_at, updated_at)
      values (${org}, ${uuidv7()}, 'webhook', 'x', 'x', ''::bytea, ${types}::text[], now(), now())`.execute(tx);
    await sql`
      insert into dataset_hours (organization_id, dataset, hour, events)
      select ${org}, 'web', hour, 200 from generate_series(timestamptz '2024-06-05T09:00:00Z', '2024-06-20T07:00:00Z', interval '1 hour') hour`.execute(
      tx,
    );
  });
  return org;
}

async function checkAt(time: string, startedAt = longAgo): Promise<void> {
  store.at(time);
  while (await checkLogHealth(deps, startedAt));
}

test('reports a reduced dataset again when it falls silent', async () => {
  const org = await newOrgWithHistory();
  store.at('2024-06-20T08:10:00Z');
  await store.send(
    org,
    'web',
    Array.from({ length: 50 }, (_, n) => ({ user: `u${n}` })),
  );
  for (const hour of ['09', '10', '11']) await checkAt(`2024-06-20T${hour}:00:00Z`);
  expect(await readEvents(org)).toMatchObject([
    { type: 'dataset.reduced', data: { since: '2024-06-20T08:00:00.000Z', events: 50, expected: 200 } },
    { type: 'dataset.silent', data: { since: '2024-06-20T09:00:00.000Z', events: 0, expected: 200 } },
  ]);
});

test('reports a dataset that falls silent once, with the detections that read it, and its recovery', async () => {
  const org = await newOrgWithHistory();
  await checkAt('2024-06-20T08:30:00Z');
  expect(await readEvents(org)).toEqual([]);
  await checkAt('2024-06-20T09:00:00Z');
  await checkAt('2024-06-20T09:30:00Z');
  await checkAt('2024-06-20T10:00:00Z');
  const silent = { dataset: 'web', since: '2024-06-20T08:00:00.000Z', hours: 1, events: 0, expected: 200 };
  expect(await readEvents(org)).toMatchObject([
    { type: 'dataset.silent', data: { ...silent, detections: [{ id: 'a', name: 'Reads web' }], detectionsTotal: 1 } },
  ]);
  expect(await listOpen(org)).toMatchObject([{ dataset: 'web', expected: 200 }]);
  store.at('2024-06-20T10:10:00Z');
  await store.send(
    org,
    'web',
    Array.from({ length: 150 }, (_, n) => ({ user: `u${n}` })),
    { history: true },
  );
  await checkAt('2024-06-20T11:00:00Z');
  expect(await readEvents(org)).toHaveLength(1);
  store.at('2024-06-20T11:10:00Z');
  await store.send(
    org,
    'web',
    Array.from({ length: 100 }, (_, n) => ({ user: `v${n}` })),
  );
  await checkAt('2024-06-20T12:00:00Z');
  expect(await readEvents(org)).toMatchObject([{}, { type: 'dataset.recovered', data: { dataset: 'web' } }]);
  expect(await listOpen(org)).toEqual([]);
});

test('reports a dataset that receives less than half of its minimum', async () => {
  const org = await newOrgWithHistory();
  store.at('2024-06-20T08:10:00Z');
  await store.send(
    org,
    'web',
    Array.from({ length: 99 }, (_, n) => ({ user: `u${n}` })),
  );
  await checkAt('2024-06-20T09:00:00Z');
  expect(await readEvents(org)).toMatchObject([
    { type: 'dataset.reduced', data: { hours: 1, events: 99, expected: 200 } },
  ]);
});

test('does not judge an hour in which the process was not running', async () => {
  const org = await newOrgWithHistory();
  await checkAt('2024-06-20T09:00:00Z', new Date('2024-06-20T08:00:01Z'));
  expect(await listOpen(org)).toEqual([]);
  await checkAt('2024-06-20T09:00:00Z', new Date('2024-06-20T08:00:00Z'));
  expect(await listOpen(org)).toHaveLength(1);
});

test('a dataset that received nothing for weeks is no longer missed', async () => {
  const org = await newOrgWithHistory();
  await checkAt('2024-06-20T09:00:00Z');
  await checkAt('2024-07-10T09:00:00Z');
  expect(await listOpen(org)).toEqual([]);
  expect(await readEvents(org)).toMatchObject([{ type: 'dataset.silent' }]);
});
