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
