import { afterAll, expect, test } from 'vitest';
import { createTestFolder, failureOf } from '../../../../test/support/detection/log-store.ts';
import { createEngine } from '../process/engine.ts';

const folder = createTestFolder();
const engine = createEngine({ directoryOf: () => folder });
afterAll(() => engine.close());

test.each([
  'SELECT list_resize([1], 4000000000)',
  'SELECT list_resize([1], x) FROM auth',
  'SELECT LIST_RESIZE([1], 2000 * 1000000)',
  'SELECT array_resize([1], 1000001)',
  'SELECT [1].list_resize(4000000000)',
  "SELECT repeat('x', 4000000000)",
  "SELECT repeat('x', 99999999999999999999)",
  "SELECT repeat('x', 4e9)",
  "SELECT rpad('x', 2147483647, 'y'), lpad('x', 2147483647, 'y')",
  'SELECT range(100000000)',
  'SELECT range(0, 100000000, 2)',
  'SELECT generate_series(-50000000, 50000000)',
  'SELECT list_transform([1], x -> range(100000000))',
  "SELECT printf('%2000000000d', 1)",
  "SELECT printf('%.2000000000f', 1.5)",
  "SELECT printf('%*d', 2000000000, 1)",
  'SELECT printf(x, 1) FROM auth',
  "SELECT printf('%' || '2000000000d', 1)",
  "SELECT format('{:2000000000}', 1)",
  "SELECT format('{:.2000000000f}', 1.5)",
  "SELECT format('{:{}}', 1, 2000000000)",
  'SELECT CAST(NULL AS INTEGER[100000])',
  'SELECT CAST(NULL AS INTEGER[100000][100000][100000])',
  'SELECT CAST(NULL AS STRUCT(a INTEGER[1000][1000]))',
])('rejects %s, which would allocate as much as an argument says', async (sql) => {
  expect(await failureOf(engine.inspect('org', sql))).toMatchObject({ kind: 'query_not_allowed', blame: 'author' });
});

test.each([
  "SELECT repeat('=', 80), repeat(x, y), rpad(x, 20, ' '), lpad(x, length(y), '0') FROM auth",
  'SELECT range(10), range(1700000000, 1700000100), generate_series(1, 1000000), range(len(l)) FROM auth',
  'SELECT * FROM range(100000000)',
  "SELECT list_resize(l, 10), printf('%05.2f %s%%2000', x, y), format('{} {:>10} {{1234}}', x, y) FROM auth",
  'SELECT CAST(l AS INTEGER[3]), CAST(l AS FLOAT[1536]) FROM auth',
])('accepts %s', async (sql) => {
  expect((await engine.inspect('org', sql)).tables.length).toBeLessThan(2);
});
