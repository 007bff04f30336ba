import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { testDatabase } from '../../../test/support/database.ts';
import { createTestFolder } from '../../../test/support/detection/log-store.ts';
import {
  listShippedCases,
  openEmbedded,
  shippedWindow,
  toComparableRows,
  type StoredEvent,
} from '../../../test/support/detection/shipped-cases.ts';
import { startDelayProxy } from '../../../test/support/models/delay-proxy.ts';
import { loadLibrary } from '../library/load-library.ts';
import { createEngine } from '../log-engine/process/engine.ts';
import { createFileStore } from '../log-store/files/file-store.ts';
import type { SiemConnection } from '../siem/connector.ts';
import { postgres } from '../siem/connectors/postgres.ts';
import { toPortableQuery } from '../siem/query-text.ts';
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
    `create table logs_${table} (_id text, at timestamptz, event jsonb); grant select on logs_${table} to ${role}`,
  );
const datasets = Object.fromEntries(tables.map((table) => [table, { source: `logs_${table}`, event: 'event' }]));
afterAll(async () => {
  await client.end();
  await engine.close();
});

const deps = { engine, segmentStore, organization: '11111111-1111-4111-8111-111111111111' };
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
  // The tables do not change, so that their columns are listed once.
  delayMs: 60_000,
  search: async (...input) => {
    const result = await remote.search(...input);
    fetched += result.rows.length;
    return result;
  },
};

const cases = listShippedCases();
/** The events of all tests by dataset, so that each detection also reads those of the others. */
const events: Record<string, StoredEvent[]> = {};
for (const one of cases)
  for (const [dataset, list] of Object.entries(one.events))
    (events[dataset] ??= []).push(...list.map((event) => ({ ...event, id: `${one.id}-${event.id}` })));
for (const [table, list] of Object.entries(events)) {
  const columns = [list.map(({ id }) => id), list.map(({ at }) => at), list.map(({ event }) => JSON.stringify(event))];
  await client.query(
    `insert into logs_${table} select * from unnest($1::text[], $2::timestamptz[], $3::jsonb[])`,
    columns,
  );
}
const embedded = await openEmbedded(deps, events);
afterAll(() => embedded.close());

test('every shipped detection finds in PostgreSQL what it finds in the log store', { timeout: 300_000 }, async () => {
  const portable = withPortableQueries(counted, deps, { kind: 'postgres', datasets, timeField: 'at' });
  for (const { id, query } of cases) {
    const expected = await embedded.searchAll(query, shippedWindow, limits, signal);
    const found = await portable.search(toPortableQuery(query), shippedWindow, limits, signal);
    expect.soft([id, toComparableRows(found.rows)]).toEqual([id, toComparableRows(expected.rows)]);
  }
  expect(fetched).toBeGreaterThan(cases.length);
  const readable = cases.flatMap((one) => Object.keys(one.events)).map((dataset) => events[dataset]!.length);
  expect(fetched).toBeLessThan(readable.reduce((sum, n) => sum + n, 0) / 2);
});
