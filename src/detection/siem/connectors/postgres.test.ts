import { once } from 'node:events';
import pg from 'pg';
import { expect, test } from 'vitest';
import { startDelayProxy } from '../../../../test/support/models/delay-proxy.ts';
import { testDatabase } from '../../../../test/support/database.ts';
import { testConnectorConformance } from '../../../../test/support/detection/siem/connector-conformance.ts';
import type { SiemError } from '../connector.ts';
import { postgres } from './postgres.ts';
import { createPinnedSocket } from './postgres-session.ts';
import {
  connectToStandIn,
  events,
  firstAt,
  testPrivateAddress,
} from '../../../../test/support/detection/siem/siem-stand-in.ts';

const { url } = await testDatabase();
// A connection needs a host and a port, but the test server listens on a socket only.
const proxy = await startDelayProxy(url);
const role = `reader_${proxy.pathname.slice(6)}`;
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query(`
  create table auth (_id text, ts timestamptz, stored_at timestamptz, "user" text, n bigint, extra jsonb);
  create table secret (a int);
  create role ${role} login password 'pw'; grant usage on schema public to ${role}; grant select on auth to ${role}`);
for (const { id, at: time, user } of events)
  await admin.query('insert into auth values ($1, $2, $3, $4, 9007199254740993, $5)', [
    id,
    time,
    new Date(time.getTime() + 60_000),
    user,
    { ip: ['10.0.0.1'] },
  ]);
await admin.end();

const settings = {
  host: proxy.hostname,
  port: Number(proxy.port),
  database: proxy.pathname.slice(1),
  user: role,
  tls: 'off',
  timeColumn: 'auth.ts',
  ingestColumn: 'stored_at',
};
const connect = (overrides: object = {}, password = 'pw', allow?: string[]) =>
  connectToStandIn(postgres, {
    settings: { ...settings, ...overrides },
    credentials: { password },
    ...(allow ? { allow } : {}),
  });

testConnectorConformance('postgres', async () => ({
  connection: connect(),
  events: events.length,
  firstAt,
  queries: {
    all: 'SELECT _id, ts AS _time, "user" FROM auth WHERE $window; -- every one',
    groups: 'SELECT "user", count(*) AS n FROM auth WHERE $window GROUP BY 1',
    empty: `SELECT _id FROM auth WHERE $window AND "user" = 'nobody'`,
    unknownField: 'SELECT usr FROM auth WHERE $window',
    broken: 'SELECT FROM auth WHERE $window WHERE',
  },
}));

const limits = { rowsMax: 100_000, groupsMax: 100, timeoutMs: 30_000 };
const { signal } = new AbortController();
const hour = (n: number): Date => new Date(firstAt.getTime() + n * 3_600_000);
const window = { from: hour(0), to: hour(4), clock: 'event' as const };
const findFailure = (query: string, connection = connect(), searchLimits = limits) =>
  connection.search(query, window, searchLimits, signal).then(
    () => undefined,
    (error: SiemError) => error.failure,
  );

test('returns values as JSON and integers beyond 2^53 as text', async () => {
  const { rows } = await connect().search(
    'SELECT *, 1.5::numeric AS f, 7::bigint AS i FROM auth WHERE $window',
    { ...window, to: hour(1) },
    limits,
    signal,
  );
  expect(rows).toEqual([
    {
      _id: 'e0',
      ts: '2026-03-02T00:00:00.000Z',
      stored_at: '2026-03-02T00:01:00.000Z',
      user: 'ada',
      n: '9007199254740993',
      extra: { ip: ['10.0.0.1'] },
      f: 1.5,
      i: 7,
    },
  ]);
});

test('returns infinity and large integers in JSON as text, and warns about duplicate columns', async () => {
  const query = `SELECT 'infinity'::timestamp AS t, '{"id": 9007199254740993}'::jsonb AS j,
    1 AS twice, 2 AS twice WHERE $window_start < $window_end`;
  const { rows, warnings } = await connect().search(query, window, limits, signal);
  expect(rows).toEqual([{ t: 'infinity', j: { id: '9007199254740993' }, twice: 2 }]);
  expect(warnings).toEqual([{ code: 'query', detail: 'Several columns are named twice. Rows contain the last one.' }]);
});

test.each([
  'SHOW $window_start$window_end',
  `WITH gone AS (DELETE FROM auth RETURNING 1) SELECT * FROM gone WHERE $window_start < $window_end`,
  'INSERT INTO auth SELECT * FROM auth WHERE $window',
])('check rejects what search would reject: %s', async (query) => {
  await expect(connect().check(query, signal)).rejects.toMatchObject({ failure: { blame: 'author' } });
});

test('reads very wide rows in small pages and truncates the result', async () => {
  const query = `SELECT g AS _id, repeat('x', 1000000) AS a FROM generate_series(1, 200) g WHERE $window_start < $window_end`;
  const found = await connect().search(query, window, { ...limits, timeoutMs: 60_000 }, signal);
  expect(found).toMatchObject({ truncated: true, total: 200 });
  expect(found.rows.length).toBeGreaterThan(100);
  expect(found.rows.length).toBeLessThan(160);
});

test('bounds the column of the clock and applies ingestedBefore', async () => {
  const listIds = async (overrides: object) =>
    (
      await connect().search('SELECT _id FROM auth WHERE $window', { ...window, ...overrides }, limits, signal)
    ).rows.map((row) => row['_id']);
  expect(await listIds({ clock: 'ingest', from: new Date(hour(1).getTime() + 60_000), to: hour(3) })).toEqual([
    'e1',
    'e2',
  ]);
  expect(await listIds({ ingestedBefore: new Date(hour(1).getTime() + 60_000) })).toEqual(['e0']);
});

test('reads 100,000 rows through the cursor in order', async () => {
  const query = `SELECT 'x' || (g % 7) AS _id, $window_start + g * interval '1 ms' AS _time, g FROM generate_series(1, 120000) g WHERE $window_end > $window_start`;
  const found = await connect().search(query, window, { ...limits, timeoutMs: 30_000 }, signal);
  expect(found).toMatchObject({ total: 120_000, truncated: true, aggregate: false });
  expect(found.rows).toHaveLength(100_000);
  expect(found.rows[99_999]).toMatchObject({ g: 100_000 });
});

test.each([
  ['SELECT 1) AS q; DROP TABLE auth; -- $window\nSELECT $window_start, $window_end', { blame: 'author' }],
  [`SELECT set_config('transaction_read_only', 'off', true) WHERE $window_start < $window_end`, { blame: 'author' }],
  [
    `WITH gone AS (DELETE FROM auth RETURNING 1) SELECT * FROM gone WHERE $window_start < $window_end`,
    { blame: 'author' },
  ],
  ['SELECT * FROM secret WHERE $window_start < $window_end', { kind: 'rights_missing', blame: 'upstream' }],
  ['SELECT 1', { kind: 'window_missing', blame: 'author' }],
  ['SELECT * FROM gone WHERE $window', { kind: 'query_error', blame: 'author', dependsOnData: true }],
  ['SELECT sum(_id) FROM auth WHERE $window', { kind: 'query_error', blame: 'author', dependsOnData: true }],
])('fails without side effects: %s', async (query, expected) => {
  expect(await findFailure(query)).toMatchObject(expected);
  expect((await connect().search('SELECT _id FROM auth WHERE $window', window, limits, signal)).total).toBe(4);
});

test('ends a slow query on the server at the time limit, and on the client when aborted', async () => {
  const slow = 'SELECT pg_sleep(3600) WHERE $window_start < $window_end';
  expect(await findFailure(slow, connect(), { ...limits, timeoutMs: 200 })).toMatchObject({
    kind: 'query_timeout',
    blame: 'author',
  });
  await expect(
    connect().search(slow, window, { ...limits, timeoutMs: 1_800_000 }, AbortSignal.timeout(200)),
  ).rejects.toThrow();
});

test('blames the upstream for wrong credentials, addresses and databases', async () => {
  const query = 'SELECT 1 WHERE $window_start < $window_end';
  expect(await findFailure(query, connect({}, 'wrong'))).toMatchObject({
    kind: 'credentials_refused',
    blame: 'upstream',
    retryable: false,
  });
  expect(await findFailure(query, connect({ database: 'none' }))).toMatchObject({
    kind: 'not_found',
    blame: 'upstream',
  });
  expect(await findFailure(query, connect({ port: 9 }))).toMatchObject({
    kind: 'unreachable',
    blame: 'upstream',
    retryable: true,
  });
  expect(await findFailure(query, connect({ tls: 'verify' }))).toMatchObject({ blame: 'upstream' });
  await testPrivateAddress(connect({}, 'pw', []));
});

test('connects to the reachable one of several addresses', async () => {
  const socket = createPinnedSocket([
    { address: '::1', family: 6 },
    { address: proxy.hostname, family: 4 },
  ]);
  socket.connect(settings.port, 'db.example');
  await once(socket, 'connect');
  expect(socket.remoteAddress).toBe(proxy.hostname);
  socket.destroy();
  await connect({ host: 'localhost' }, 'pw', ['localhost']).ping(signal);
});

test('suggests similar names for an unknown column', async () => {
  expect(await findFailure('SELECT usr FROM auth WHERE $window')).toMatchObject({
    message: 'No column is named usr; did you mean user or ts?',
  });
});
