import { DuckDBInstance } from '@duckdb/node-api';
import { expect, test } from 'vitest';
import { addressFunctions, eventFunctions } from './added-functions.ts';
import { allowedFunctions, allowedTableFunctions } from './allowed-functions.ts';

const connection = await (await DuckDBInstance.create(':memory:')).connect();
const names = async (where: string): Promise<string[]> => {
  const result = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name) FROM duckdb_functions() WHERE ${where}`,
  );
  return result.getRows().map((row) => String(row[0]));
};

test('allows no function that the engine lists as having side effects', async () => {
  const effects = await names('has_side_effects');
  expect(effects).toContain('nextval');
  expect(effects.filter((name) => allowedFunctions.has(name))).toEqual([]);
});

test('allows no pure table function except the three that read nothing', async () => {
  const scalar = new Set(await names("function_type IN ('scalar', 'aggregate', 'macro')"));
  const tables = await names("function_type IN ('table', 'table_macro', 'pragma')");
  const allowed = tables.filter((name) => allowedFunctions.has(name) && !scalar.has(name));
  expect(allowed.filter((name) => !allowedTableFunctions.has(name))).toEqual([]);
});

test('lists only functions of this engine version and its grammar', async () => {
  const known = new Set(await names('true'));
  const grammar =
    '! cume_dist coalesce grouping grouping_id if ifnull ilike like not position row map -> !__postfix unnest'.split(
      ' ',
    );
  expect([...allowedFunctions].filter((name) => !known.has(name) && !grammar.includes(name))).toEqual([
    ...eventFunctions,
    ...addressFunctions,
  ]);
});
