import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { serializeTree } from '../parse-tree.ts';
import { inspectTree } from './inspect-tree.ts';

const instance = await DuckDBInstance.create(':memory:');
const connection = await instance.connect();
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

test.each<[string, string[]]>([
  ['SELECT a FROM d', []],
  ['SELECT coalesce(a, b.C) FROM d', ['a', 'b.c']],
  ['SELECT coalesce(CAST(a AS VARCHAR), upper(TRY_CAST(b AS VARCHAR))) FROM d', ['a', 'b']],
  ['SELECT ifnull(a, b) FROM d', ['a', 'b']],
  ['SELECT coalesce(t.a, d2.b) FROM d AS t, d AS d2', ['a', 'b']],
  ['SELECT coalesce(a, NULL) FROM d', ['a']],
  ["SELECT coalesce(a, '-') FROM d", []],
  ["SELECT coalesce(a, b, '-') FROM d", ['a', 'b']],
  ['SELECT coalesce(a, b) FROM d WHERE a = 1', ['b']],
  ['SELECT coalesce(a, b) AS a FROM d WHERE a = 1', ['a', 'b']],
  ['SELECT coalesce(a || b, c) FROM d', []],
  ['SELECT coalesce(a, (SELECT max(b) FROM e)) FROM d', []],
])('%s: %s', async (sql, expected) => {
  expect(inspectTree(await serializeTree(connection, sql)).optional.toSorted()).toEqual(expected);
});
