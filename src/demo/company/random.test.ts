import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createRandom } from './random.ts';

test('returns the same numbers for the same seed words only', () => {
  const draw = (...words: (string | number)[]) => Array.from({ length: 5 }, createRandom(...words).next);
  expect(draw('a', 1)).toEqual(draw('a', 1));
  expect(draw('a', 1)).not.toEqual(draw('a', 2));
  expect(draw('a', 'b')).not.toEqual(draw('ab'));
});

test('returns numbers in range and distinct members', () => {
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: -50, max: 50 }), fc.nat(50), (seed, from, more) => {
      const random = createRandom(seed);
      const drawn = random.int(from, from + more);
      expect(drawn).toBeGreaterThanOrEqual(from);
      expect(drawn).toBeLessThanOrEqual(from + more);
      const list = Array.from({ length: more }, (_, n) => n);
      expect(new Set(random.some(list, 10)).size).toBe(Math.min(10, more));
    }),
  );
});
