import fc from 'fast-check';
import { expect, test } from 'vitest';
import { splitIntoBatches } from './batches.ts';

test('keeps every item in order, within both limits', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), fc.integer({ min: 1, max: 5 }), fc.nat(30), (items, countMax, max) => {
      const batches = splitIntoBatches(items, countMax, { max, of: (item) => item });
      expect(batches.flat()).toEqual(items);
      for (const batch of batches) {
        expect(batch.length).toBeLessThanOrEqual(countMax);
        const weight = batch.reduce((sum, item) => sum + item, 0);
        expect(weight <= max || batch.length === 1).toBe(true);
      }
    }),
  );
});

test('fills batches as far as the limits allow', () => {
  expect(splitIntoBatches([1, 2, 3, 4, 5], 2)).toEqual([[1, 2], [3, 4], [5]]);
  expect(splitIntoBatches([3, 3, 9, 1], 9, { max: 6, of: (item) => item })).toEqual([[3, 3], [9], [1]]);
  expect(splitIntoBatches([], 3)).toEqual([]);
});
