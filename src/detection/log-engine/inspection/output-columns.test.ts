import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { serializeTree } from '../parse-tree.ts';
import { inspectTree } from './inspect-tree.ts';
import { toColumnKinds } from './output-columns.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const kindsOf = async (sql: string, columns?: number) => {
  const { outputs } = inspectTree(await serializeTree(connection, sql));
  return toColumnKinds(outputs, columns ?? outputs.length).join(' ');
};

/** Queries with the kinds of their columns. A number is that of the columns if the query has `*`. */
const certain: [sql: string, kinds: string, columns?: number][] = [
  ['SELECT user, ip AS address FROM auth', 'value value'],
  ['SELECT * FROM auth', 'value value value', 3],
  ["SELECT 'x' AS planted, *, user FROM auth", 'other value value value', 4],
  ['SELECT a.user, b.user FROM auth a JOIN vpn b ON a.ip = b.ip', 'value value'],
  ['SELECT a.*, b.ip FROM auth a JOIN vpn b USING (user)', 'value value value', 3],
  ["SELECT _event->>'$.a.b', CAST(port AS VARCHAR), request.headers.host FROM auth", 'value value value'],
  ['SELECT user, count(*), count(ip), count(DISTINCT ip) FROM auth GROUP BY user', 'value count count countDistinct'],
  ['SELECT sum(bytes), min(_time), max(_time) FROM auth', 'sum least greatest'],
  ['SELECT count(*) FILTER (WHERE ok) FROM auth WHERE ip IN (SELECT ip FROM vpn)', 'count'],
  ['SELECT u, n FROM (SELECT user AS u, count(*) AS n FROM auth GROUP BY 1) WHERE n > 5', 'value count'],
  ['WITH f AS (SELECT user, ip FROM auth WHERE ok) SELECT user, count(*) FROM f GROUP BY ALL', 'value count'],
  ['SELECT user FROM auth UNION ALL SELECT user FROM vpn', 'value'],
  ['SELECT count(*) FROM auth UNION ALL SELECT count(*) FROM vpn', 'count'],
  ['SELECT count(*) FROM auth SEMI JOIN vpn USING (user)', 'count'],
  ['SELECT user FROM auth EXCEPT SELECT user FROM vpn', 'value'],
];

test.each(certain)('%s has the columns %s', async (sql, kinds, columns) => {
  expect(await kindsOf(sql, columns)).toBe(kinds);
});

test.each([
  [
    'SELECT user, u.ip AS address, request.headers.host FROM auth u',
    'user=auth.user address=auth.ip host=auth.request.headers.host',
  ],
  ['SELECT _event->>\'$.a."b c"\' AS x, CAST(port AS VARCHAR) AS y FROM auth', 'x=auth.a.b c y=auth.port'],
  ['WITH f AS (SELECT "User" AS u FROM Auth) SELECT v FROM (SELECT u AS v FROM f)', 'v=auth.User'],
  ['SELECT a.user, b.ip AS user2 FROM auth a JOIN vpn b ON a.ip = b.ip', 'user=auth.user user2=vpn.ip'],
  ['SELECT x FROM (SELECT *, ip AS x FROM auth)', ''],
  ['SELECT user FROM auth JOIN vpn ON true', ''],
  ['SELECT user FROM auth UNION SELECT owner FROM vpn', ''],
  ["SELECT upper(user) AS user, winlog(_event, 'User') AS w, count(*) AS n FROM auth", ''],
  ["SELECT user FROM (SELECT 'bob' AS user FROM auth)", ''],
])('%s returns the fields %s unchanged', async (sql, origins) => {
  const { outputs } = inspectTree(await serializeTree(connection, sql));
  const known = outputs.flatMap((output) =>
    'star' in output || !output.origin ? [] : [`${output.name}=${output.origin.table}.${output.origin.keys.join('.')}`],
  );
  expect(known.join(' ')).toBe(origins);
});

/** Queries that write a value of their own, or a count of something else, into their first column. */
const planted = [
  "SELECT 'backup job' AS user FROM auth",
  "SELECT user || ' (approved)' FROM auth",
  "SELECT CASE WHEN ok THEN user ELSE 'root' END FROM auth",
  "SELECT coalesce(user, 'svc-backup') FROM auth",
  'SELECT upper(user) FROM auth',
  "SELECT replace(user, 'eve', 'bob') FROM auth",
  "SELECT user FROM (SELECT 'bob' AS user FROM auth)",
  "SELECT user FROM (SELECT *, 'bob' AS user FROM auth)",
  "SELECT t FROM (SELECT *, 'bob' AS planted FROM auth) t",
  "SELECT planted, 'bob' AS planted FROM auth",
  "SELECT planted.a, {'a': 'bob'} AS planted FROM auth",
  "WITH auth AS (SELECT 'bob' AS user) SELECT user FROM auth",
  "WITH f(user) AS (SELECT 'bob') SELECT user FROM f",
  "SELECT user FROM (SELECT user FROM auth UNION ALL SELECT 'bob')",
  "SELECT * FROM (SELECT 'bob' AS user UNION ALL SELECT user FROM auth)",
  "SELECT user FROM (VALUES ('bob')) AS v(user)",
  "SELECT u FROM unnest(['bob']) AS t(u)",
  "SELECT * REPLACE ('bob' AS user) FROM auth",
  "SELECT x.user FROM auth, LATERAL (SELECT 'bob' AS user) x",
  "SELECT (SELECT 'bob') FROM auth",
  "SELECT min('bob') FROM auth",
  'SELECT sum(1) FROM auth',
  'SELECT sum(bytes * 1000) FROM auth',
  'SELECT count(*) * 100 FROM auth',
  'SELECT count(*) FROM range(412)',
  'SELECT count(*) FROM auth, range(100)',
  'SELECT count(*) FROM auth a JOIN auth b ON true',
  'SELECT count(*) FROM (SELECT * FROM auth UNION ALL SELECT * FROM auth)',
  'SELECT count(*) FROM (SELECT unnest(range(100)) FROM auth)',
  'SELECT count(*) FROM (SELECT * FROM auth LIMIT 3)',
  'SELECT count(*) FROM (SELECT DISTINCT user FROM auth)',
  'SELECT count(*) FROM (SELECT user FROM auth GROUP BY user)',
  'SELECT count(*) OVER () FROM auth',
  'SELECT sum(n) FROM (SELECT count(*) AS n FROM auth GROUP BY user)',
  'SELECT max(n) FROM (SELECT 412 AS n FROM auth)',
  'WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 9) SELECT n FROM r',
  "SELECT COLUMNS(c -> c = 'user') FROM (SELECT 1 AS user FROM auth)",
];

test.each(planted)('%s proves nothing', async (sql) => {
  expect((await kindsOf(sql)).split(' ')[0]).toBe('other');
});

test('a query that doubles its columns at every level has no more than a bound', async () => {
  let sql = 'SELECT a, b FROM auth';
  for (let level = 0; level < 30; level++) sql = `SELECT *, * FROM (${sql})`;
  expect(await kindsOf(sql, 3)).toBe('value value value');
});
