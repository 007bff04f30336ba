/** Makes the median absolute deviation comparable with a standard deviation. */
export const madFactor = 1.4826;

/** Returns the median. `sorted` is ascending and not empty. */
export function medianOfSorted(sorted: ArrayLike<number>): number {
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : sorted[half - 1]! / 2 + sorted[half]! / 2;
}

/** Returns the index of the first number that is at least `least`. `sorted` is ascending. */
export function lowerBound(sorted: ArrayLike<number>, least: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

const scratch = new Float64Array(64);

/** Returns the median, or undefined without values. Leaves the values as they are. */
export function findMedian(values: ArrayLike<number>): number | undefined {
  if (values.length === 0) return undefined;
  if (values.length > scratch.length) return medianOfSorted(Float64Array.from(values).toSorted());
  // Sorts short lists by insertion, which needs no memory.
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!;
    let at = index;
    for (; at > 0 && scratch[at - 1]! > value; at--) scratch[at] = scratch[at - 1]!;
    scratch[at] = value;
  }
  return medianOfSorted(scratch.subarray(0, values.length));
}

/** Returns the variance of a median of so many values, in units of the variance of one. */
export const varianceOfMedian = (samples: number): number =>
  samples <= 2 ? 1 / Math.max(samples, 1) : Math.PI / 2 / samples;

/**
 * Transforms a number that scatters like a count (variance m) and by a share of its size (variance (spread · m)²) so that it scatters by 1
 * everywhere: near 2√x for small counts, near ln(x) / spread for large numbers. It is the transform of the negative binomial distribution.
 */
export const stabilize = (x: number, spread: number): number =>
  (2 / spread) * Math.asinh(spread * Math.sqrt(Math.max(x, 0) + 0.375));

/** Returns the logarithm of a number, defined for 0. */
export const toLog = (x: number): number => Math.log(Math.max(x, 0) + 0.5);

/** Returns the z that a normal variable exceeds with a probability, 0 to 0.5. */
export function findNormalQuantile(probability: number): number {
  // The tail is about exp(−z²/2) / (z √2π). Converges in a few steps.
  let z = 1;
  for (let step = 0; step < 20; step++) {
    const inner = probability * Math.sqrt(2 * Math.PI) * Math.sqrt(z * z + 1);
    z = Math.sqrt(Math.max(-2 * Math.log(inner), 0));
  }
  return z;
}

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
