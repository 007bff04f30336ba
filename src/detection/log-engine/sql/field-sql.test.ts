import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { getTestDir } from '../../../../test/support/test-dir.ts';
import { storedColumnsMax, type CatalogField } from '../../log-store/catalog/catalog.ts';
import { parquetValueSql, withoutFieldsSql } from './field-sql.ts';
import { duck, quoteLiteral } from './sql-text.ts';
import { tableSql } from './table-sql.ts';

const field: CatalogField = { name: 'n', keys: ['n'], type: 'BIGINT', nested: [], open: false };
const stored = (type: CatalogField['type']) => ({ ...field, stored: { name: 'n', type, position: 4 } });
const read = (of: CatalogField, inFiles: number, known = inFiles) => parquetValueSql(of, { inFiles, known });
const isNull = expect.stringContaining('NULL');

test('reads a stored column as it is, as text, or from the event', () => {
  expect(read(stored('BIGINT'), 5)).toBe('"n"');
  expect(read(stored('VARCHAR'), 5)).toMatch(/CAST\("n" AS BIGINT\)/);
  expect(read(stored('DOUBLE'), 5)).toBeUndefined();
});

test('a column that files do not have is null if it was null when they were written', () => {
  expect(read(stored('BIGINT'), 4)).toEqual(isNull);
  expect(read(field, 4)).toEqual(isNull);
  // The files had no room for it.
  expect(read(field, storedColumnsMax)).toBeUndefined();
  // The files were written after the catalog was read.
  expect(read(field, 5, 4)).toBeUndefined();
});

const connection = await (await DuckDBInstance.create(':memory:')).connect();

async function hide(event: unknown, ...fields: string[]): Promise<unknown> {
  const text = quoteLiteral(JSON.stringify(event));
  const result = await connection.runAndReadAll(
    duck`SELECT ${withoutFieldsSql(duck`e`, fields)} FROM (SELECT ${text} AS e)`,
  );
  return JSON.parse(String(result.getRows()[0]![0])) as unknown;
}

test('removes a field in any spelling, and what is below it', async () => {
  expect(await hide({ SSN: '1', ssn: { a: 1 }, user: 'ada', n: null }, 'Ssn')).toEqual({ user: 'ada', n: null });
});

test('removes a key inside of objects and a key that contains the dots', async () => {
  const event = {
    user: { name: 'ada', Ssn: '1', home: { street: 'x', city: 'y' } },
    'user.ssn': '1',
    'user.home': { street: 'x' },
    a: [1],
  };
  expect(await hide(event, 'user.ssn', 'user.home.street')).toEqual({
    user: { name: 'ada', home: { city: 'y' } },
    'user.home': {},
    a: [1],
  });
});

test('removes lists and JSON text in which a hidden key could be', async () => {
  const event = { a: [{ ssn: '1' }], b: '{"ssn": "1"}', c: 'plain', d: 7, e: { ssn: '1' } };
  expect(await hide(event, ...['a', 'b', 'c', 'd', 'e'].map((name) => `${name}.ssn`))).toEqual({
    c: 'plain',
    d: 7,
    e: {},
  });
});

test('hides a whole object also if a key of it is hidden too', async () => {
  for (const fields of [
    ['user', 'user.ssn'],
    ['user.ssn', 'user'],
  ])
    expect(await hide({ user: { ssn: '1', name: 'ada' }, ip: 'x' }, ...fields)).toEqual({ ip: 'x' });
});

test('names with quotes and slashes change nothing else', async () => {
  expect(await hide({ "o'x/y~z": { "a'b": 1, c: 2 } }, "o'x/y~z.a'b")).toEqual({ "o'x/y~z": { c: 2 } });
});

test('the engine reads the fields of an event once, whatever the number of conditions', async () => {
  const path = join(mkdtempSync(join(getTestDir(), 'plan-')), 'a.events');
  writeFileSync(path, 'id\t0\t{"n": 1}\n');
  const files = [{ path, format: 'text' as const, ingestedMs: 0, columns: 0 }];
  const rows = tableSql({
    columns: [field],
    extra: [],
    scans: [{ files }],
    eventAsText: true,
    usedNames: new Set(['_id', 'n']),
  });
  const query = `SELECT _id FROM (${rows}) WHERE n IN (1, 2) AND n % 2 = 1 AND abs(n) < 3`;
  expect((await connection.runAndReadAll(query)).getRows()).toEqual([['id']]);
  const [[, plan]] = (await connection.runAndReadAll(`EXPLAIN (FORMAT json) ${query}`)).getRows() as [[string, string]];
  // The conditions read what the projection below them has extracted.
  expect(plan).toContain('array_extract(_text, 1)');
  expect(plan).not.toContain('json_extract_string');
});
