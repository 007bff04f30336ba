import { DuckDBInstance } from '@duckdb/node-api';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldCase } from './text-pattern.ts';

test('folds every character as the embedded engine does', async () => {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '1' })).connect();
  // The surrogates are no characters, and the client drops a lone byte order mark.
  const result = await connection.runAndReadAll(
    'SELECT i, lower(chr(i::INTEGER)) FROM range(1, 1114112) AS t(i) WHERE i NOT BETWEEN 55296 AND 57343 AND i <> 65279',
  );
  const wrong = result.getRows().filter(([code, lower]) => foldCase(String.fromCodePoint(Number(code))) !== lower);
  expect(wrong).toEqual([]);
});

test('no character depends on its neighbors', () => {
  expect(foldCase('ΑΣ İSTANBUL Straße')).toBe('ασ istanbul straße');
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('Σ', 'İ', 'Ꟍ', 'A', 'É'), fc.string({ unit: 'binary', minLength: 1 })),
  });
  fc.assert(
    fc.property(text, (value) => {
      expect(foldCase(value)).toBe([...value].map((character) => foldCase(character)).join(''));
    }),
  );
});
