import { expect, test } from 'vitest';
import type { Inspection } from './inspect-tree.ts';
import { createInspectionCache } from './inspection-cache.ts';

const inspectionOf = (columns: number): Inspection => ({
  tables: ['auth'],
  columns: Array.from({ length: columns }, (_, n) => [`column_${n}`]),
  optional: [],
  aliases: [],
  rowNames: [],
  allColumns: false,
  eventAsText: true,
  aggregate: false,
  parameters: [],
  jsonPaths: [],
  filters: {},
});

test('keeps many short queries, few long ones, and none that is larger than an eighth of the cache', () => {
  const cache = createInspectionCache();
  for (let n = 0; n < 5000; n += 1) cache.set(`SELECT ${n}`, inspectionOf(1));
  expect(cache.size).toBe(5000);
  for (let n = 0; n < 5000; n += 1) cache.set(`${n} ${'x'.repeat(50_000)}`, inspectionOf(1));
  expect(cache.size).toBeLessThan(200);
  expect(cache.calculatedSize).toBeLessThanOrEqual(16 * 1024 * 1024);
  cache.set('large', inspectionOf(60_000));
  expect(cache.get('large')).toBeUndefined();
});
