import { expect, test } from 'vitest';
import { failureOf, startLogStore } from '../../../../test/support/detection/log-store.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { checkLogsQuery } from '../../log-query/search/search-logs.ts';

const store = await startLogStore();
const { send, search } = store;
const listRows = async (org: OrgId, query: string): Promise<Record<string, unknown>[]> =>
  (await search(org, query)).rows;

test('decides column types as events arrive and keeps every column', async () => {
  const org = await store.newOrg();
  const selected = [...'abcdef'].map((name) => `typeof(${name}) AS ${name}`).join(', ');
  const types = async () => (await listRows(org, `SELECT ${selected} FROM w LIMIT 1`))[0]!;
  await send(org, 'w', [{ a: 1, b: true, c: '2024-01-01T00:00:00Z', d: { x: 1 }, e: ['p'], f: null }]);
  expect(await types()).toEqual({ a: 'BIGINT', b: 'BOOLEAN', c: 'TIMESTAMP', d: 'JSON', e: 'VARCHAR[]', f: 'VARCHAR' });
  await send(org, 'w', [{ a: 1.5, b: 0, c: 'later', d: [1], e: [{}], f: 7 }]);
  expect(await types()).toEqual({ a: 'DOUBLE', b: 'VARCHAR', c: 'VARCHAR', d: 'JSON', e: 'JSON', f: 'BIGINT' });
  await send(org, 'w', [{ a: 'x' }, { d: 'text' }]);
  expect(await listRows(org, 'SELECT a, b, c, d, e, f FROM w ORDER BY _id')).toEqual([
    { a: 1, b: 'true', c: '2024-01-01T00:00:00Z', d: { x: 1 }, e: ['p'], f: null },
    { a: 1.5, b: '0', c: 'later', d: [1], e: [{}], f: 7 },
    { a: null, b: null, c: null, d: null, e: null, f: null },
    { a: null, b: null, c: null, d: null, e: null, f: null },
  ]);
});

test('merges spellings of a name into one column and queries names with any characters', async () => {
  const org = await store.newOrg();
  await send(org, 'c', [
    { User: 'ana' },
    { user: 'bo', 'a "b"/~c': 1, _id: 'x', _TIME: 5, 'user.name': 'flat', '': 0 },
    { USER: 'cy' },
  ]);
  expect(await listRows(org, 'SELECT User, "a ""b""/~c" AS odd, user.name FROM c ORDER BY 1')).toEqual([
    { User: 'ana', odd: null, name: null },
    { User: 'bo', odd: 1, name: 'flat' },
    { User: 'cy', odd: null, name: null },
  ]);
  const [row] = await listRows(org, 'SELECT * FROM c LIMIT 1');
  expect(Object.keys(row!)).toEqual(['_id', '_time', '_ingested', '_event', 'User', 'a "b"/~c', 'user.name']);
  expect(await listRows(org, "SELECT _event->>'$._id' AS own FROM c WHERE _event->>'$._id' IS NOT NULL")).toEqual([
    { own: 'x' },
  ]);
});

test('dotted names read keys inside objects with the types of these keys', async () => {
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
  const rows = (query: string) => listRows(org, query);
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
  expect((await checkLogsQuery(store.deps, org, 'SELECT userIdentity.usrName FROM t')).warnings).toEqual([
    { code: 'unknown_column', detail: expect.stringContaining('userIdentity.userName') },
  ]);
});

test('reads keys of objects and events with more keys than the catalog lists', async () => {
  const org = await store.newOrg();
  await send(
    org,
    'm',
    Array.from({ length: 300 }, (_, index) => ({ o: { [`k${index}`]: index }, [`top${index}`]: 1 })),
  );
  expect(await listRows(org, 'SELECT o.k299 AS n, top299 FROM m WHERE o.k299 IS NOT NULL')).toEqual([
    { n: '299', top299: 1 },
  ]);
  const wide = Object.fromEntries(Array.from({ length: 1500 }, (_, index) => [`w${index}`, index]));
  await send(org, 'wide', [wide]);
  expect(await listRows(org, "SELECT w0, _event->>'$.w1499' AS last FROM wide")).toEqual([{ w0: 0, last: '1499' }]);
  expect(Object.keys((await listRows(org, 'SELECT * FROM wide'))[0]!)).toHaveLength(1004);
});

test('the check of a query reports an unknown column with the nearest names', async () => {
  const org = await store.newOrg();
  await send(org, 'auth', [{ userName: 'ana', sourceIp: '192.0.2.1' }]);
  for (const query of [
    'SELECT usrName FROM auth',
    'SELECT a.usrName FROM auth a',
    'SELECT 1 FROM auth WHERE usrname = 1',
    'SELECT usrName.x FROM auth',
  ]) {
    expect((await checkLogsQuery(store.deps, org, query)).warnings).toEqual([
      { code: 'unknown_column', detail: expect.stringContaining('userName') },
    ]);
  }
  expect(await failureOf(checkLogsQuery(store.deps, org, 'SELECT sourceIp + 1 FROM auth'))).toMatchObject({
    kind: 'query_error',
    blame: 'author',
  });
});
