import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countMisfits, decideType, type ColumnType, type TypeCounts } from './column-types.ts';

test.each<[string, TypeCounts, ColumnType, ColumnType]>([
  ['adopts the type of the first value', { BOOLEAN: 1 }, 'NULL', 'BOOLEAN'],
  ['keeps its type when one value is different', { BOOLEAN: 3, VARCHAR: 1 }, 'BOOLEAN', 'BOOLEAN'],
  ['keeps its type while most values fit', { BIGINT: 51, VARCHAR: 49 }, 'BIGINT', 'BIGINT'],
  ['becomes text when half of the values do not fit', { BIGINT: 50, VARCHAR: 50 }, 'BIGINT', 'VARCHAR'],
  ['becomes text when the values of a new column are mixed', { BIGINT: 60, VARCHAR: 40 }, 'NULL', 'VARCHAR'],
  ['recovers from a poisoned first value', { VARCHAR: 1, BIGINT: 9 }, 'VARCHAR', 'BIGINT'],
  ['recovers from a poisoned object', { JSON: 1, TIMESTAMP: 2 }, 'JSON', 'VARCHAR'],
  ['keeps a text column whose values became numbers', { VARCHAR: 500, BIGINT: 4500 }, 'VARCHAR', 'VARCHAR'],
  ['lets numbers replace very little text', { VARCHAR: 40, BIGINT: 4960 }, 'VARCHAR', 'BIGINT'],
  ['ignores nulls', { NULL: 1000, BOOLEAN: 1 }, 'NULL', 'BOOLEAN'],
  ['widens integers for a share of decimals', { BIGINT: 98, DOUBLE: 2 }, 'BIGINT', 'DOUBLE'],
  ['keeps integers despite one decimal in a thousand', { BIGINT: 999, DOUBLE: 1 }, 'BIGINT', 'BIGINT'],
  ['keeps decimals with few decimals', { BIGINT: 995, DOUBLE: 5 }, 'DOUBLE', 'DOUBLE'],
  ['returns to integers without decimals', { BIGINT: 9999, DOUBLE: 1 }, 'DOUBLE', 'BIGINT'],
  ['counts integers and decimals as one type', { BIGINT: 40, DOUBLE: 30, VARCHAR: 30 }, 'BIGINT', 'DOUBLE'],
  ['widens lists of numbers', { 'BIGINT[]': 1, 'DOUBLE[]': 1, 'NULL[]': 9 }, 'BIGINT[]', 'DOUBLE[]'],
  ['stores objects and lists as JSON', { JSON: 1, 'VARCHAR[]': 1 }, 'VARCHAR[]', 'JSON'],
  ['keeps objects despite text', { JSON: 2, VARCHAR: 1 }, 'JSON', 'JSON'],
])('a column %s', (_, counts, current, expected) => {
  expect(decideType(counts, current)).toBe(expected);
});

const counts = fc.dictionary(
  fc.constantFrom<ColumnType>('BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR', 'VARCHAR[]', 'JSON'),
  fc.nat(1000),
) as fc.Arbitrary<TypeCounts>;
const anyType = fc.constantFrom<ColumnType>('NULL', 'BOOLEAN', 'BIGINT', 'DOUBLE', 'TIMESTAMP', 'VARCHAR', 'JSON');

test('a decision is stable, and at most half of the values do not fit it', () => {
  fc.assert(
    fc.property(counts, anyType, (observed, current) => {
      const type = decideType(observed, current);
      expect(decideType(observed, type)).toBe(type);
      const total = Object.values(observed).reduce((sum, n) => sum + n, 0);
      if (total > 0) expect(countMisfits(observed, type)).toBeLessThanOrEqual(total / 2);
    }),
  );
});

test('fewer than one value in ten of other types never changes an adopted type', () => {
  const scalar = fc.constantFrom<ColumnType>('BOOLEAN', 'TIMESTAMP', 'DOUBLE', 'JSON', 'VARCHAR');
  fc.assert(
    fc.property(scalar, scalar, fc.integer({ min: 10, max: 900 }), (type, other, n) => {
      const mixed = { [type]: n, ...(other === type ? {} : { [other]: Math.floor(n / 10) }) };
      expect(decideType(mixed, type)).toBe(type);
    }),
  );
});
