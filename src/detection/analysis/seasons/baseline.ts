import { lowerBound, madFactor, medianOfSorted } from './robust-statistics.ts';

/** The median and the spread of samples, both robust against outliers. */
export type Baseline = { median: number; scale: number; samples: number };

/** Returns the median and the scale max(1.4826 · median absolute deviation, √median, 1). The factor 1.4826 makes the deviation comparable with a standard deviation. */
export function computeBaseline(samples: Float64Array): Baseline {
  const sorted = samples.toSorted();
  const median = medianOfSorted(sorted);
  const deviations = sorted.map((sample) => Math.abs(sample - median)).toSorted();
  return { median, scale: scaleOf(median, medianOfSorted(deviations)), samples: samples.length };
}

/** Returns how many scales a number lies above the median. Negative if it lies below. */
export function computeRobustZ(x: number, { median, scale }: Baseline): number {
  return (x - median) / scale;
}

function scaleOf(median: number, deviation: number): number {
  return Math.max(madFactor * deviation, Math.sqrt(Math.max(median, 0)), 1);
}

/** Returns a function that computes the baseline of all numbers other than `x`. Sorts once: without one number, the median has at most three values. */
export function createPeerBaselines(numbers: Float64Array): (x: number) => Baseline {
  const sorted = numbers.toSorted();
  const deviationsBy = new Map<number, Float64Array>();
  return (x) => {
    const median = medianWithout(sorted, x);
    const deviations = deviationsBy.get(median) ?? sorted.map((other) => Math.abs(other - median)).toSorted();
    deviationsBy.set(median, deviations);
    const deviation = medianWithout(deviations, Math.abs(x - median));
    return { median, scale: scaleOf(median, deviation), samples: sorted.length - 1 };
  };
}

/** Returns the median of the sorted numbers without one occurrence of `x`. */
function medianWithout(sorted: Float64Array, x: number): number {
  const removed = lowerBound(sorted, x);
  const at = (index: number): number => sorted[index < removed ? index : index + 1]!;
  const length = sorted.length - 1;
  const half = length >> 1;
  return length % 2 === 1 ? at(half) : at(half - 1) / 2 + at(half) / 2;
}
