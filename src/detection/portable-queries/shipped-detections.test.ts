import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { createTestFolder } from '../../../test/support/detection/log-store.ts';
import { startDelayProxy } from '../../../test/support/models/delay-proxy.ts';
import { groupByDataset, type EventsByDataset } from '../testing/case-events.ts';
import { loadLibrary } from '../library/load-library.ts';
import { findEventTime } from '../logs/ingestion/event-time.ts';
import { createEngine } from '../logs/engine/engine.ts';
import { openFixtureStore } from '../logs/query/fixture-store.ts';
import { createFileStore } from '../logs/storage/store/file-store.ts';
import type { QueryRow, QueryWindow, SiemConnection } from '../siem/connector.ts';
import { postgres } from '../siem/postgres.ts';
import { toPortableQuery } from '../siem/queries/portable-query.ts';
import { withPortableQueries } from './portable-connection.ts';

const segmentStore = createFileStore(createTestFolder());
const engine = createEngine({ directoryOf: segmentStore.folderOf });
const { url } = await testDatabase();
// A connection needs a host and a port, but the test server listens on a socket only.
const proxy = await startDelayProxy(url);
const client = new pg.Client({ connectionString: url });
await client.connect();
const role = `reader_${proxy.pathname.slice(6)}`;
await client.query(`create role ${role} login password 'pw'; grant usage on schema public to ${role}`);
const tables = [...new Set([...loadLibrary().values()].flatMap((entry) => Object.keys(entry.datasets)))];
for (const table of tables)
  await client.query(
    `create table ${table} (id text, at timestamptz, event jsonb); grant select on ${table} to ${role}`,
  );
const datasets = Object.fromEntries(tables.map((table) => [table, { source: table, event: 'event' }]));
afterAll(async () => {
  await client.end();
  await engine.close();
});

const deps = { engine, segmentStore, organization: '11111111-1111-4111-8111-111111111111' };
const day = new Date('2030-01-07T00:00:00Z');
const window: QueryWindow = { from: new Date('2000-01-01'), to: new Date('2090-01-01'), clock: 'event' };
const limits = { rowsMax: 10_000, groupsMax: 10_000, timeoutMs: 30_000 };
const signal = new AbortController().signal;
const settings = postgres.settings.parse({
  host: proxy.hostname,
  port: Number(proxy.port),
  database: proxy.pathname.slice(1),
  user: role,
  tls: 'off',
  timeColumn: 'at',
});
const remote = postgres.connect({ settings, credentials: { password: 'pw' }, allow: [proxy.hostname] });

/** How many rows PostgreSQL has returned. */
let fetched = 0;
const counted: SiemConnection = {
  ...remote,
  clock: 'event',
  delayMs: 0,
  search: async (...input) => {
    const result = await remote.search(...input);
    fetched += result.rows.length;
    return result;
  },
};

/** Every shipped detection with the events of all of its tests. */
const cases = [...loadLibrary().values()].map(({ id, body, tests, datasets: reads }) => {
  const names = Object.keys(reads);
  const lists = tests.tests.map(({ events }) => groupByDataset(events, names));
  const events: EventsByDataset = Object.fromEntries(
    names.map((name) => [name, lists.flatMap((list) => list[name] ?? [])]),
  );
  return { id, query: body.detectionQuery, events };
});
const withoutIds = (rows: readonly QueryRow[]): string[] =>
  rows.map(({ _id, _ids, ...rest }) => JSON.stringify(rest, sortObjectText)).toSorted();

/** PostgreSQL stores objects with their keys in another order. */
function sortObjectText(_name: string, value: unknown): unknown {
  const objects = typeof value === 'string' && /^\[\{.*\}\]$/.test(value) ? (JSON.parse(value) as object[]) : undefined;
  return objects?.map((object) => Object.entries(object).toSorted()) ?? value;
}

async function fill(events: EventsByDataset): Promise<void> {
  await client.query(`truncate ${tables.join(', ')}`);
  for (const [table, list] of Object.entries(events))
    for (const [n, event] of list.entries())
      await client.query(`insert into ${table} values ($1, $2, $3)`, [
        `${table}-${n}`,
        new Date((findEventTime(event) ?? day.getTime() * 1000) / 1000),
        event,
      ]);
}

test('every shipped detection finds in PostgreSQL what it finds in the log store', { timeout: 300_000 }, async () => {
  const portable = withPortableQueries(counted, deps, { kind: 'postgres', datasets, timeField: 'at' });
  const undatedMicros = day.getTime() * 1000;
  for (const { id, query, events } of cases) {
    const store = await openFixtureStore(deps, { events, fields: new Map(), undatedMicros });
    const expected = await store.searchAll(query, window, limits, signal);
    await store.close();
    await fill(events);
    const found = await portable.search(toPortableQuery(query), window, limits, signal);
    expect.soft([id, withoutIds(found.rows)]).toEqual([id, withoutIds(expected.rows)]);
  }
  expect(fetched).toBeGreaterThan(cases.length);
  expect(fetched).toBeLessThan(cases.flatMap(({ events }) => Object.values(events).flat()).length - 100);
});
