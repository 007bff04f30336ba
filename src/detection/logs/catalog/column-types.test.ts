import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inferType, widenType, type ColumnType } from './column-types.ts';

const scalars = ['NULL', 'BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR'] as const;
const types: ColumnType[] = [...scalars, ...scalars.map((type) => `${type}[]` as const), 'JSON'];
const anyType = fc.constantFrom(...types);

test('widening is commutative, associative and idempotent', () => {
  fc.assert(
    fc.property(anyType, anyType, anyType, (a, b, c) => {
      expect(widenType(a, b)).toBe(widenType(b, a));
      expect(widenType(widenType(a, b), c)).toBe(widenType(a, widenType(b, c)));
      expect(widenType(a, widenType(a, b))).toBe(widenType(a, b));
      expect(widenType(a, a)).toBe(a);
    }),
  );
});

test.each<[ColumnType, ColumnType, ColumnType]>([
  ['BIGINT', 'DOUBLE', 'DOUBLE'],
  ['BIGINT', 'VARCHAR', 'VARCHAR'],
  ['BIGINT', 'BOOLEAN', 'VARCHAR'],
  ['TIMESTAMP', 'VARCHAR', 'VARCHAR'],
  ['NULL', 'TIMESTAMP', 'TIMESTAMP'],
  ['JSON', 'VARCHAR', 'VARCHAR'],
  ['JSON', 'VARCHAR[]', 'JSON'],
  ['BIGINT[]', 'DOUBLE[]', 'DOUBLE[]'],
  ['BIGINT[]', 'VARCHAR[]', 'VARCHAR[]'],
  ['NULL[]', 'BIGINT[]', 'BIGINT[]'],
  ['VARCHAR[]', 'VARCHAR', 'VARCHAR'],
])('%s and %s widen to %s', (a, b, expected) => {
  expect(widenType(a, b)).toBe(expected);
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
