import fc from 'fast-check';
import { expect, test } from 'vitest';
import { baselineOf, baselinesAmongOthers, robustZ } from './robust.ts';

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

test('by hand: 4, 5, 5, 6, 100 has the median 5 and the deviation 1', () => {
  const baseline = baselineOf(Float64Array.of(100, 5, 4, 6, 5));
  expect(baseline.median).toBe(5);
  // √5 is more than 1.4826.
  expect(baseline.scale).toBeCloseTo(2.23607, 4);
  expect(robustZ(12, baseline)).toBeCloseTo(3.1305, 3);
});

test.each([
  ['nothing ever: the scale is 1', [0, 0, 0, 0, 0, 0, 0], 4, 4],
  ['a steady 100: the scale is 10', [100, 100, 100], 145, 4.5],
  ['wide: 1.4826 times the deviation', [10, 20, 30, 40, 50], 90, 60 / 14.826],
  ['below the median', [10, 10, 10], 5, -5 / Math.sqrt(10)],
])('%s', (_name, samples, x, z) => {
  expect(robustZ(x, baselineOf(Float64Array.from(samples)))).toBeCloseTo(z, 6);
});

test('equals the naive computation', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 1, maxLength: 40 }), number, (samples, x) => {
      expect(robustZ(x, baselineOf(Float64Array.from(samples)))).toBeCloseTo(naiveZ(x, samples), 9);
    }),
  );
});

test('each among the others equals leaving it out', () => {
  fc.assert(
    fc.property(fc.array(number, { minLength: 2, maxLength: 30 }), (numbers) => {
      const among = baselinesAmongOthers(Float64Array.from(numbers));
      for (const [index, x] of numbers.entries()) {
        expect(robustZ(x, among(x))).toBeCloseTo(naiveZ(x, numbers.toSpliced(index, 1)), 9);
      }
    }),
  );
});

test('what is far above stays so when the same is added to all, or all are multiplied, once the spread rules the scale', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 7, maxLength: 30 }),
      fc.integer({ min: 2, max: 9 }),
      fc.nat(500),
      (samples, factor, shift) => {
        const base = baselineOf(Float64Array.from(samples));
        const scaled = baselineOf(Float64Array.from(samples, (sample) => sample * factor));
        expect(scaled.median).toBeCloseTo(base.median * factor, 6);
        const spread = base.scale > Math.max(Math.sqrt(base.median), 1);
        if (spread) expect(robustZ(60 * factor, scaled)).toBeCloseTo(robustZ(60, base), 6);
        // More is never less.
        expect(robustZ(60 + shift, base)).toBeGreaterThanOrEqual(robustZ(60, base));
      },
    ),
  );
});
