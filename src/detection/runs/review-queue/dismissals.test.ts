import { expect, test } from 'vitest';
import { boundWrongShare, upperBound } from './audit-dismissals.ts';

// The share at which the binomial distribution gives at most that many wrong ones a chance of 5 %, found by bisection.
test.each([
  [0, 1, 0.95],
  [0, 300, 0.009936],
  [0, 59, 0.049508],
  [1, 100, 0.046556],
  [5, 100, 0.102253],
  [100, 100, 1],
])('bounds %i wrong of %i', (wrong, n, bound) => {
  expect(upperBound(wrong, n)).toBeCloseTo(bound, 4);
});

test('counts equal weights as a plain sample, and never bounds a sample of unequal weights better than one of their size', () => {
  expect(boundWrongShare([{ weight: 40, audited: 300, wrong: 0 }])).toBe(upperBound(0, 300));
  const mixed = [
    { weight: 1, audited: 30, wrong: 0 },
    { weight: 50, audited: 20, wrong: 1 },
  ];
  // 1,030 dismissals, of which the 20 audited of a busy day stand for 1,000: hardly more than a sample of 20.
  expect(boundWrongShare(mixed)).toBe(upperBound(2, 21));
  expect(boundWrongShare(mixed)).toBeGreaterThan(upperBound(1, 50));
  expect(boundWrongShare([])).toBeNull();
});
