import { expect, test } from 'vitest';
import { storedColumnsMax, type CatalogField } from '../../log-store/catalog/catalog.ts';
import { parquetValueSql } from './field-sql.ts';

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
