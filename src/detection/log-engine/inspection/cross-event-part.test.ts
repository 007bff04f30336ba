import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { serializeTree } from '../parse-tree.ts';
import { inspectTree } from './inspect-tree.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const partOf = async (sql: string) => inspectTree(await serializeTree(connection, sql)).crossEventPart;

test.each([
  "SELECT _id, user FROM auth WHERE action = 'x' ORDER BY _time",
  'SELECT * FROM auth WHERE ok',
  "WITH a AS (SELECT _id, user FROM auth WHERE ok) SELECT _id, 'x' AS technique FROM a WHERE len(user) > 3",
  "SELECT _id FROM auth WHERE ok UNION ALL SELECT _id FROM auth WHERE user = 'x'",
  'SELECT _id, unnest(roles) AS role FROM auth',
  'SELECT _id, role FROM auth, unnest(roles) AS r(role)',
  "SELECT _id FROM auth WHERE EXISTS (SELECT 1 FROM unnest(roles) AS r(role) WHERE role ILIKE 'adm%')",
])('%s is a filter over single events', async (sql) => {
  expect(await partOf(sql)).toBeNull();
});

test.each([
  ['SELECT user, count(*) AS n FROM auth GROUP BY user', 'groups events (GROUP BY)'],
  ['SELECT max(_id) AS _id FROM auth', 'groups events (max)'],
  ["SELECT a._id FROM auth a JOIN auth b ON a.user = b.user WHERE a.action = 'x'", 'joins events (JOIN)'],
  ['SELECT _id, row_number() OVER (ORDER BY _time) AS n FROM auth', 'has a window function (row_number)'],
  [
    'SELECT _id FROM auth WHERE user NOT IN (SELECT user FROM auth_history)',
    'reads the history of a dataset (auth_history)',
  ],
  ['SELECT _id FROM auth WHERE user IN (SELECT user FROM auth)', 'compares events with a subquery'],
  ['WITH a AS (SELECT user FROM auth) SELECT _id FROM auth WHERE user IN (FROM a)', 'compares events with a subquery'],
  ['SELECT user FROM auth', 'does not return the ID of the event (_id)'],
  ['SELECT _id FROM auth LIMIT 5', 'limits its rows (LIMIT)'],
  ['SELECT _id FROM (SELECT _id FROM auth LIMIT 5)', 'limits its rows (LIMIT)'],
  ['SELECT DISTINCT _id FROM auth', 'removes duplicates (DISTINCT)'],
  ['SELECT _id FROM auth UNION SELECT _id FROM auth', 'compares events (UNION without ALL)'],
  ['SELECT _id FROM auth EXCEPT SELECT _id FROM auth', 'compares events (EXCEPT)'],
  ['SELECT _id FROM auth UNION ALL SELECT _id FROM dns', 'reads several datasets (auth, dns)'],
  ['SELECT _id FROM auth WHERE _time > $window_start', 'depends on the window ($window_start)'],
  ['SELECT 1 AS _id', 'reads no dataset'],
])('%s is none: it %s', async (sql, part) => {
  expect(await partOf(sql)).toBe(part);
});
