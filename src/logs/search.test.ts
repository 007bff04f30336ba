import { expect, test } from 'vitest';
import { SiemError } from '../siem/connector.ts';
import { startStore } from './test-store.ts';
import { checkLogsQuery } from './search.ts';

const store = await startStore();
const { send, search } = store;
const utc = (text: string): Date => new Date(`2024-06-${text}Z`);

const failureOf = async (promise: Promise<unknown>): Promise<SiemError['failure']> => {
  try {
    await promise;
  } catch (error) {
    if (error instanceof SiemError) return error.failure;
    throw error;
  }
  throw new Error('did not fail');
};
const column = async (
  org: Parameters<typeof search>[0],
  query: string,
  window?: Parameters<typeof search>[2],
): Promise<unknown[]> => (await search(org, query, window)).rows.map((row) => row['n']);

test('a window on the ingest clock sees what was ingested in it, and the history what lies before it', async () => {
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
  expect(await column(org, 'SELECT n FROM auth ORDER BY n', window)).toEqual(['11:00', '11:59']);
  expect((await column(org, 'SELECT n FROM auth_history', window)).toSorted()).toEqual([
    '10:10',
    '10:50',
    'loaded early',
    'loaded late',
  ]);
  expect(
    await column(org, 'SELECT n FROM auth WHERE n NOT IN (SELECT n FROM auth_history) ORDER BY n', window),
  ).toEqual(['11:00', '11:59']);
  expect(await column(org, 'SELECT $window_start AS n', window)).toEqual(['2024-06-01T11:00:00.000Z']);
  expect(
    await search(org, 'SELECT n FROM auth', { ...window, from: utc('01T12:00:00'), to: utc('01T13:00:00') }),
  ).toMatchObject({
    total: 1,
    noData: false,
    truncated: false,
  });
});

test('a window on event time sees what happened in it, of what was ingested before a point', async () => {
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
  expect(await column(org, 'SELECT n FROM auth ORDER BY _ingested', window)).toEqual([
    '10 in 10',
    '10 in 11',
    '10 in 12',
  ]);
  expect(await column(org, 'SELECT n FROM auth', { ...window, ingestedBefore: utc('02T11:00:00') })).toEqual([
    '10 in 10',
  ]);
  expect(await column(org, 'SELECT n FROM auth_history', { ...window, ingestedBefore: utc('02T12:00:00') })).toEqual([
    '9 in 10',
    '9 in 11',
  ]);
  expect(
    await column(org, 'SELECT n FROM auth', { ...window, from: utc('02T10:30:00.251'), to: utc('02T11:00:00') }),
  ).toEqual([]);
});

test('types widen as events come, and all of them stay in the catalogue', async () => {
  const org = await store.newOrg();
  const types = async (): Promise<Record<string, unknown>> =>
    (
      await search(
        org,
        'SELECT typeof(a) AS a, typeof(b) AS b, typeof(c) AS c, typeof(d) AS d, typeof(e) AS e, typeof(f) AS f FROM w LIMIT 1',
      )
    ).rows[0]!;
  await send(org, 'w', [{ a: 1, b: true, c: '2024-01-01T00:00:00Z', d: { x: 1 }, e: ['p'], f: null }]);
  expect(await types()).toEqual({ a: 'BIGINT', b: 'BOOLEAN', c: 'TIMESTAMP', d: 'JSON', e: 'VARCHAR[]', f: 'VARCHAR' });
  await send(org, 'w', [{ a: 1.5, b: 0, c: 'later', d: [1], e: [{}], f: 7 }]);
  expect(await types()).toEqual({ a: 'DOUBLE', b: 'VARCHAR', c: 'VARCHAR', d: 'JSON', e: 'JSON', f: 'BIGINT' });
  await send(org, 'w', [{ a: 'x' }, { d: 'text' }]);
  expect((await search(org, 'SELECT a, b, c, d, e, f FROM w ORDER BY _id')).rows).toEqual([
    { a: '1', b: 'true', c: '2024-01-01T00:00:00Z', d: '{"x":1}', e: ['p'], f: null },
    { a: '1.5', b: '0', c: 'later', d: '[1]', e: [{}], f: 7 },
    { a: 'x', b: null, c: null, d: null, e: null, f: null },
    { a: null, b: null, c: null, d: 'text', e: null, f: null },
  ]);
});

test('spellings of one name are one column, and names of any characters can be asked for', async () => {
  const org = await store.newOrg();
  await send(org, 'c', [
    { User: 'ana' },
    { user: 'bo', 'a "b"/~c': 1, _id: 'x', _TIME: 5, 'user.name': 'flat', '': 0 },
    { USER: 'cy' },
  ]);
  expect((await search(org, 'SELECT User, "a ""b""/~c" AS odd, user.name FROM c ORDER BY 1')).rows).toEqual([
    { User: 'ana', odd: null, name: null },
    { User: 'bo', odd: 1, name: 'flat' },
    { User: 'cy', odd: null, name: null },
  ]);
  const [row] = (await search(org, 'SELECT * FROM c LIMIT 1')).rows;
  expect(Object.keys(row!)).toEqual(['_id', '_time', '_ingested', '_event', 'User', 'a "b"/~c', 'user.name']);
  expect((await search(org, "SELECT _event->>'$._id' AS own FROM c WHERE _event->>'$._id' IS NOT NULL")).rows).toEqual([
    { own: 'x' },
  ]);
});

test('dotted names reach into objects, with the types of what lies there', async () => {
  const org = await store.newOrg();
  const events = [
    {
      userIdentity: { userName: 'ana', SessionContext: { mfa: 'true', n: 1 } },
      requestParameters: { maxResults: 50, tags: ['a'] },
    },
    { userIdentity: { username: 'bo' }, requestParameters: { maxResults: 5 } },
    { userIdentity: 'root', requestParameters: null },
  ];
  await send(org, 't', events);
  const rows = async (query: string): Promise<unknown> => (await search(org, query)).rows;
  expect(await rows('SELECT userIdentity.userName FROM t ORDER BY ALL')).toEqual([
    { userName: 'ana' },
    { userName: 'bo' },
    { userName: null },
  ]);
  expect(
    await rows('SELECT t.userIdentity.sessionContext.mfa AS mfa FROM t WHERE requestParameters.maxResults > 10'),
  ).toEqual([{ mfa: 'true' }]);
  expect(
    await rows(
      'SELECT x."userIdentity" . "userName" AS u FROM t AS x WHERE list_contains(x.requestParameters.tags, \'a\')',
    ),
  ).toEqual([{ u: 'ana' }]);
  expect(
    await rows(
      'SELECT userIdentity.userName, count(*) AS n FROM t GROUP BY userIdentity.userName ORDER BY userIdentity.userName NULLS LAST',
    ),
  ).toEqual([
    { userName: 'ana', n: 1 },
    { userName: 'bo', n: 1 },
    { userName: null, n: 1 },
  ]);
  expect(
    await rows(
      "WITH c AS (SELECT userIdentity, upper('é') AS e FROM t) SELECT e, userIdentity.userName FROM c WHERE userIdentity.userName = 'bo'",
    ),
  ).toEqual([{ e: 'É', userName: 'bo' }]);
  expect(
    await rows(
      "SELECT userIdentity->>'$.userName' AS a, _event->>'$.userIdentity.userName' AS b FROM t WHERE userIdentity.userName = 'ana'",
    ),
  ).toEqual([{ a: 'ana', b: 'ana' }]);
  expect(await rows("SELECT s.k FROM (SELECT {'k': 1} AS s FROM t LIMIT 1)")).toEqual([{ k: 1 }]);
  expect(await failureOf(search(org, 'SELECT userIdentity.usrName FROM t'))).toMatchObject({
    kind: 'unknown_column',
    blame: 'author',
    message: expect.stringContaining('userIdentity.userName'),
  });
});

test('objects with very many keys stay within reach', async () => {
  const org = await store.newOrg();
  await send(
    org,
    'm',
    Array.from({ length: 300 }, (_, index) => ({ o: { [`k${index}`]: index }, [`top${index}`]: 1 })),
  );
  expect((await search(org, 'SELECT o.k299 AS n, top299 FROM m WHERE o.k299 IS NOT NULL')).rows).toEqual([
    { n: '299', top299: 1 },
  ]);
  const wide = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`w${index}`, index]));
  await send(org, 'wide', [wide]);
  expect((await search(org, "SELECT w0, _event->>'$.w1499' AS last FROM wide")).rows).toEqual([
    { w0: 0, last: '1499' },
  ]);
  expect(Object.keys((await search(org, 'SELECT * FROM wide')).rows[0]!)).toHaveLength(1004);
});

test("an unknown column is the author's, with the nearest names", async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ userName: 'ana', sourceIp: '192.0.2.1' }]);
  for (const query of [
    'SELECT usrName FROM auth',
    'SELECT a.usrName FROM auth a',
    'SELECT 1 FROM auth WHERE usrname = 1',
    'SELECT usrName.x FROM auth',
  ]) {
    expect(await failureOf(search(org, query))).toMatchObject({
      kind: 'unknown_column',
      blame: 'author',
      retryable: false,
      message: expect.stringContaining('userName'),
    });
  }
  expect(await failureOf(search(org, 'SELECT sourceIp + 1 FROM auth'))).toMatchObject({
    kind: 'query_error',
    blame: 'author',
  });
});

test('datasets that never had an event are empty, and those that have some are still asked', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ user: 'ana' }]);
  expect(await search(org, 'SELECT anything, more.of.it FROM atuh')).toMatchObject({
    rows: [],
    total: 0,
    noData: true,
    warnings: [expect.stringContaining('auth')],
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

test('an organization sees nothing of another', async () => {
  const [one, two] = [await store.newOrg(), await store.newOrg()];
  await send(one, 'auth', [{ secret: 1 }]);
  expect(await search(two, 'SELECT * FROM auth')).toMatchObject({ rows: [], noData: true });
  await send(two, 'auth', [{ own: 1 }]);
  expect(await failureOf(search(two, 'SELECT secret FROM auth'))).toMatchObject({ kind: 'unknown_column' });
});

test('groups and rows have bounds of their own', async () => {
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

test('a check binds a query to the columns and runs nothing', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ user: 'ana', o: { k: 1 } }]);
  await checkLogsQuery(store.deps, org, "SELECT user, o.k FROM auth WHERE user <> 'x' AND _time >= $window_start;");
  await checkLogsQuery(store.deps, org, 'SELECT whatever FROM not_here');
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT usr FROM auth'))).toMatchObject({
    kind: 'unknown_column',
  });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT now()'))).toMatchObject({ kind: 'query_not_allowed' });
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT 1 +'))).toMatchObject({ kind: 'query_error' });
  expect(await failureOf(checkLogsQuery(store.deps, org, `SELECT '${'x'.repeat(100_001)}'`))).toMatchObject({
    kind: 'query_not_allowed',
  });
});

test('a small window through a running engine is quick', async () => {
  const org = await store.newOrg();
  await send(
    org,
    'auth',
    Array.from({ length: 200 }, (_, index) => ({ user: `u${index % 7}`, ip: '192.0.2.1' })),
  );
  const window = { from: new Date(0), to: new Date('2025-01-01T00:00:00Z'), clock: 'ingest' as const };
  const times: number[] = [];
  for (let run = 0; run < 15; run++)
    times.push((await search(org, "SELECT _id, user FROM auth WHERE user = 'u3'", window)).ms);
  const median = times.toSorted((a, b) => a - b)[7]!;
  console.info(`a small window: ${median.toFixed(1)} ms in the median`);
  expect(median).toBeLessThan(60);
});
