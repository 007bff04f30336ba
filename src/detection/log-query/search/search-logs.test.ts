import { expect, test } from 'vitest';
import { failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import { exactTimes } from '../../siem/connector.ts';
import { checkLogsQuery, searchLogs } from './search-logs.ts';

const store = await startLogStore();
const { send, search } = store;
const utc = (text: string): Date => new Date(`2024-06-${text}Z`);

const selectN = async (
  org: Parameters<typeof search>[0],
  query: string,
  window?: Parameters<typeof search>[2],
): Promise<unknown[]> => (await search(org, query, window)).rows.map((row) => row['n']);

test('a window on the ingest clock contains events ingested in it, and the history those before it', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:00:00Z');
  await send(
    org,
    'auth',
    [
      { n: 'loaded early', time: '2024-05-01T00:00:00Z' },
      { n: 'loaded late', time: '2024-06-01T10:30:00Z' },
    ],
    { history: true },
  );
  for (const hour of ['10:10', '10:50', '11:00', '11:59', '12:00']) {
    store.at(`2024-06-01T${hour}:00Z`);
    await send(org, 'auth', [{ n: hour, time: '2024-05-31T00:00:00Z' }]);
  }
  const window = { from: utc('01T11:00:00'), to: utc('01T12:00:00'), clock: 'ingest' as const };
  expect(await selectN(org, 'SELECT n FROM auth ORDER BY n', window)).toEqual(['11:00', '11:59']);
  expect((await selectN(org, 'SELECT n FROM auth_history', window)).toSorted()).toEqual([
    '10:10',
    '10:50',
    'loaded early',
    'loaded late',
  ]);
  expect(
    await selectN(org, 'SELECT n FROM auth WHERE n NOT IN (SELECT n FROM auth_history) ORDER BY n', window),
  ).toEqual(['11:00', '11:59']);
  expect(await selectN(org, 'SELECT $window_start AS n', window)).toEqual(['2024-06-01T11:00:00.000Z']);
  expect(
    await search(org, 'SELECT n FROM auth', { ...window, from: utc('01T12:00:00'), to: utc('01T13:00:00') }),
  ).toMatchObject({
    total: 1,
    noData: false,
    truncated: false,
  });
});

test('a window on event time contains events that happened in it and were ingested in time', async () => {
  const org = await store.newOrg();
  for (const hour of [10, 11, 12]) {
    store.at(`2024-06-02T${hour}:00:00Z`);
    await send(
      org,
      'auth',
      [9, 10, 11].map((at) => ({
        n: `${at} in ${hour}`,
        time: `2024-06-02T${String(at).padStart(2, '0')}:30:00.250Z`,
      })),
      { history: hour === 10 },
    );
  }
  const window = { from: utc('02T10:00:00'), to: utc('02T11:00:00'), clock: 'event' as const };
  expect(await selectN(org, 'SELECT n FROM auth ORDER BY _ingested', window)).toEqual([
    '10 in 10',
    '10 in 11',
    '10 in 12',
  ]);
  expect(await selectN(org, 'SELECT n FROM auth', { ...window, ingestedBefore: utc('02T11:00:00') })).toEqual([
    '10 in 10',
  ]);
  expect(
    await selectN(org, 'SELECT n FROM auth_history ORDER BY n', { ...window, ingestedBefore: utc('02T12:00:00') }),
  ).toEqual(['9 in 10', '9 in 11']);
  expect(
    await selectN(org, 'SELECT n FROM auth', { ...window, from: utc('02T10:30:00.251'), to: utc('02T11:00:00') }),
  ).toEqual([]);
});

test('treats datasets without events as empty and still queries the others', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ user: 'ana' }]);
  expect(await search(org, 'SELECT anything, more.of.it FROM atuh')).toMatchObject({
    rows: [],
    total: 0,
    noData: true,
    warnings: [{ code: 'no_data', detail: expect.stringContaining('auth') }],
  });
  expect(
    await search(org, 'SELECT a.user AS n FROM auth a WHERE a.user NOT IN (SELECT v._id FROM vpn v)'),
  ).toMatchObject({ rows: [{ n: 'ana' }], noData: true });
  expect(await search(org, 'SELECT a.user FROM auth a JOIN vpn v ON v.ip = a.user')).toMatchObject({
    rows: [],
    noData: true,
  });
  expect(await failureOf(search(org, "SELECT * FROM read_text('/etc/passwd')"))).toMatchObject({
    kind: 'query_not_allowed',
  });
});

test("does not return another organization's events", async () => {
  const [one, two] = [await store.newOrg(), await store.newOrg()];
  await send(one, 'auth', [{ secret: 1 }]);
  expect(await search(two, 'SELECT * FROM auth')).toMatchObject({ rows: [], noData: true });
  await send(two, 'auth', [{ own: 1 }]);
  expect((await search(two, 'SELECT secret FROM auth')).rows).toEqual([{ secret: null }]);
});

test('limits groups and rows separately', async () => {
  const org = await store.newOrg();
  await send(
    org,
    'big',
    Array.from({ length: 12_000 }, (_, index) => ({ n: index, g: index % 10_500 })),
  );
  const rows = await search(org, 'SELECT _id, n FROM big');
  expect(rows).toMatchObject({ total: 12_000, truncated: false, aggregate: false });
  const groups = await search(org, 'SELECT g, count(*) AS n FROM big GROUP BY g');
  expect(groups).toMatchObject({ total: 10_500, truncated: true, aggregate: true });
  expect(groups.rows).toHaveLength(10_000);
  expect(await search(org, 'SELECT any_value(_id) AS _id, g FROM big GROUP BY g LIMIT 5')).toMatchObject({
    aggregate: false,
    total: 5,
  });
});

test('checkLogsQuery binds a query to the columns without running it', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ user: 'ana', o: { k: 1 } }]);
  await checkLogsQuery(store.deps, org, "SELECT user, o.k FROM auth WHERE user <> 'x' AND _time >= $window_start;");
  await checkLogsQuery(store.deps, org, 'SELECT whatever FROM not_here');
  expect(await checkLogsQuery(store.deps, org, 'SELECT usr FROM auth')).toMatchObject({
    columns: ['usr'],
    warnings: [{ code: 'unknown_column' }],
  });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT b FROM (SELECT user FROM auth)'))).toMatchObject({
    kind: 'unknown_column',
    message: expect.stringMatching(/^No column is named b;/),
  });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT _id FROM (SELECT user FROM auth)'))).toMatchObject({
    kind: 'unknown_column',
    message: '_id is used outside of the subquery that reads it. Add _id to the SELECT list of the subquery.',
  });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT now()'))).toMatchObject({ kind: 'query_not_allowed' });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT 1 +'))).toMatchObject({ kind: 'query_error' });
  expect(await failureOf(checkLogsQuery(store.deps, org, `SELECT '${'x'.repeat(100_001)}'`))).toMatchObject({
    kind: 'query_not_allowed',
  });
});

test('events of one millisecond are in the order of their microseconds', async () => {
  const org = await store.newOrg();
  store.at('2024-06-01T00:30:00Z');
  const ms = Date.UTC(2024, 5, 1, 0, 20);
  const times = [
    '2024-06-01T00:20:00Z',
    `${ms}001000`,
    '2024-06-01T00:20:00.000002999Z',
    // A double is 128 ns too early.
    ms * 1e6 + 3_000,
    ms / 1000 + 0.000004,
    ms * 1000 + 5,
    String(BigInt(ms + 11_644_473_600_000) * 10_000n + 60n),
    '2024-06-01T00:20:00.001Z',
  ];
  // IDs and arrival are in the opposite order.
  const events = times.map((timestamp, n) => ({ n, timestamp, eventID: `one-millisecond-${9 - n}` }));
  await store.send(org, 'd', events.toReversed());
  const query = 'SELECT _id, _time, n FROM d';
  const { rows } = await store.search(org, query);
  const inOrder = times.map((_, n) => n);
  expect(rows.map((row) => row['n'])).toEqual(inOrder);
  expect(JSON.parse(JSON.stringify(rows.slice(0, 2)))).toEqual([
    { _id: 'one-millisecond-9', _time: '2024-06-01T00:20:00.000Z', n: 0 },
    { _id: 'one-millisecond-8', _time: '2024-06-01T00:20:00.000Z', n: 1 },
  ]);
  expect(rows.map((row) => row[exactTimes]?.['_time'])).toEqual(
    inOrder.map((n) => (n % 7 === 0 ? undefined : ms * 1000 + n)),
  );
  const window = { from: new Date(ms), to: new Date(ms + 1), clock: 'event' as const };
  const limits = { rowsMax: 3, groupsMax: 3, timeoutMs: 30_000 };
  const cut = await searchLogs(store.deps, org, { query, window, limits });
  expect([cut.truncated, cut.total, cut.rows.map((row) => row['n'])]).toEqual([true, 7, [0, 1, 2]]);
  const sorted = await store.search(org, 'SELECT n FROM d ORDER BY _time DESC LIMIT 1');
  expect(sorted.rows).toEqual([{ n: 7 }]);
});

test('a column that no event has is null even if its expression has the same name', async () => {
  const org = await store.newOrg();
  await store.send(org, 'd', [{ n: 1 }]);
  const { rows } = await store.search(
    org,
    'WITH t AS (SELECT n, CAST(action AS VARCHAR) AS action FROM d) SELECT * FROM t',
  );
  expect(rows).toEqual([{ n: 1, action: null }]);
});
