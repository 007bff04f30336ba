import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { checkCteName, engineViews, foldName, readDatasetName } from './table-names.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();

test('lists every view of the engine that needs no schema', async () => {
  const result = await connection.runAndReadAll(
    "SELECT DISTINCT view_name FROM duckdb_views() WHERE internal AND schema_name <> 'information_schema'",
  );
  expect([...engineViews].toSorted()).toEqual(
    result
      .getRows()
      .map(([name]) => String(name))
      .toSorted(),
  );
});

test.each(['a', 'A1', 'mit_ümlaut', 'two words', 'a-b', '$a'])('accepts %s as the name of a CTE', (name) => {
  expect(() => checkCteName(name)).not.toThrow();
});

test.each([
  '',
  'a.tsv',
  '/a',
  'a/b',
  'a*',
  'a:b',
  'a\\b',
  'a?',
  'a\nb',
  'PG_Settings',
  'duckdb_tables',
  'x'.repeat(201),
])('rejects %j as the name of a CTE', (name) => {
  expect(() => checkCteName(name)).toThrow();
});

test('compares names like the engine, which ignores the case of ASCII letters only', () => {
  expect(foldName('Auth_LOG')).toBe('auth_log');
  expect(readDatasetName('Auth')).toBe('auth');
  // The lower case of the Kelvin sign is an ASCII letter.
  expect(() => readDatasetName('\u212Aeys')).toThrow();
});
