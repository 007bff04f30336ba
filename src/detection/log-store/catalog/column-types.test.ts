import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fitsType, inferType, type ColumnType } from './column-types.ts';

const scalars = ['NULL', 'BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'] as const;
const types: ColumnType[] = [...scalars, ...scalars.map((type) => `${type}[]` as const), 'JSON'];
const anyType = fc.constantFrom(...types);

test('fitting is reflexive and transitive, and everything fits text', () => {
  fc.assert(
    fc.property(anyType, anyType, anyType, (a, b, c) => {
      expect(fitsType(a, a)).toBe(true);
      expect(fitsType('VARCHAR', a)).toBe(true);
      if (b !== 'NULL' && fitsType(a, b) && fitsType(b, c)) expect(fitsType(a, c)).toBe(true);
    }),
  );
});

test.each<[ColumnType, ColumnType, boolean]>([
  ['DOUBLE', 'BIGINT', true],
  ['BIGINT', 'DOUBLE', false],
  ['BIGINT', 'VARCHAR', false],
  ['TIMESTAMP', 'VARCHAR', false],
  ['BIGINT', 'NULL', true],
  ['JSON', 'VARCHAR', false],
  ['JSON', 'VARCHAR[]', true],
  ['VARCHAR[]', 'JSON', false],
  ['DOUBLE[]', 'BIGINT[]', true],
  ['BIGINT[]', 'NULL[]', true],
  ['VARCHAR[]', 'VARCHAR', false],
])('a column of %s represents values of %s: %s', (column, value, expected) => {
  expect(fitsType(column, value)).toBe(expected);
});

test.each<[unknown, ColumnType]>([
  [null, 'NULL'],
  [true, 'BOOLEAN'],
  [1, 'BIGINT'],
  [-9.5, 'DOUBLE'],
  [2 ** 63, 'VARCHAR'],
  [1e300, 'VARCHAR'],
  [Infinity, 'VARCHAR'],
  ['x', 'VARCHAR'],
  ['2024-01-02T03:04:05Z', 'TIMESTAMP'],
  ['2024-01-02T03:04:05.123456Z', 'TIMESTAMP'],
  ['2024-01-02T03:04:05.1234567Z', 'VARCHAR'],
  ['2024-13-02T03:04:05Z', 'VARCHAR'],
  ['2024-01-02T03:04:05', 'VARCHAR'],
  ['2024-01-02T03:04:05+02:00', 'VARCHAR'],
  [{}, 'JSON'],
  [[], 'NULL[]'],
  [[1, 2.5], 'DOUBLE[]'],
  [['a', 1], 'VARCHAR[]'],
  [[{}], 'JSON'],
  [[[1]], 'JSON'],
])('the type of %j is %s', (value, expected) => {
  expect(inferType(value)).toBe(expected);
});
