import fc from 'fast-check';
import { expect, test } from 'vitest';
import { computeBaseline, computeRobustZ, createPeerBaselines } from './robust-statistics.ts';

const number = fc.oneof(fc.integer({ min: -1_000, max: 1_000 }), fc.integer({ min: 0, max: 5 }));

function naiveMedian(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return (sorted[Math.floor((sorted.length - 1) / 2)]! + sorted[Math.ceil((sorted.length - 1) / 2)]!) / 2;
}

function naiveZ(x: number, samples: readonly number[]): number {
  const median = naiveMedian(samples);
  const deviation = naiveMedian(samples.map((sample) => Math.abs(sample - median)));
  return (x - median) / Math.max(1.4826 * deviation, median > 0 ? Math.sqrt(median) : 0, 1);
}

test('matches the values computed by hand: 4, 5, 5, 6, 100 has median 5 and deviation 1', () => {
  const baseline = computeBaseline(Float64Array.of(100, 5, 4, 6, 5));
  expect(baseline.median).toBe(5);
  // √5 is greater than 1.4826.
  expect(baseline.scale).toBeCloseTo(2.23607, 4);
  expect(computeRobustZ(12, baseline)).toBeCloseTo(3.1305, 3);
});

test.each([
  ['all zeros: the scale is 1', [0, 0, 0, 0, 0, 0, 0], 4, 4],
  ['constant 100: the scale is 10', [100, 100, 100], 145, 4.5],
  ['wide spread: the scale is 1.4826 times the deviation', [10, 20, 30, 40, 50], 90, 60 / 14.826],
  ['below the median: z is negative', [10, 10, 10], 5, -5 / Math.sqrt(10)],
])('%s', (_name, samples, x, z) => {
  expect(computeRobustZ(x, computeBaseline(Float64Array.from(samples)))).toBeCloseTo(z, 6);
});

test('equals a naive computation', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 40 }), number, (samples, x) => {
      expect(computeRobustZ(x, computeBaseline(Float64Array.from(samples)))).toBeCloseTo(naiveZ(x, samples), 9);
    }),
  );
});

test('the peer baseline of a number equals the baseline without it', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 2, maxLength: 30 }), (numbers) => {
      const among = createPeerBaselines(Float64Array.from(numbers));
      for (const [index, x] of numbers.entries()) {
        expect(computeRobustZ(x, among(x))).toBeCloseTo(naiveZ(x, numbers.toSpliced(index, 1)), 9);
      }
    }),
  );
});

test('z is invariant under scaling if the spread determines the scale, and grows with the number', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 7, maxLength: 30 }),
      fc.integer({ min: 2, max: 9 }),
      fc.nat(500),
      (samples, factor, shift) => {
        const base = computeBaseline(Float64Array.from(samples));
        const scaled = computeBaseline(Float64Array.from(samples, (sample) => sample * factor));
        expect(scaled.median).toBeCloseTo(base.median * factor, 6);
        const spread = base.scale > Math.max(Math.sqrt(base.median), 1);
        if (spread) expect(computeRobustZ(60 * factor, scaled)).toBeCloseTo(computeRobustZ(60, base), 6);
        expect(computeRobustZ(60 + shift, base)).toBeGreaterThanOrEqual(computeRobustZ(60, base));
      },
    ),
  );
});
