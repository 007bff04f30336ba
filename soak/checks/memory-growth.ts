import type { WorkerLife } from '../worker-processes.ts';

/**
 * The memory of a worker process over its life, in MiB. `early` and `late` are the medians of live memory in its second and last quarter, `slope`
 * the growth per day of slot time, and `resident` the peak resident size.
 */
export type MemoryGrowth = { worker: number; hours: number; early: number; late: number; slope: number; resident: number; isFlat: boolean }; // prettier-ignore

const hoursMin = 96;
/** Bounded caches fill up by less than this share. */
const growthMax = 0.2;

/** Measures the growth of every worker that lived for at least 96 hours of slot time. */
export function measureMemoryGrowth(lives: WorkerLife[]): MemoryGrowth[] {
  return lives.flatMap(({ worker, samples }) => {
    const hours = (samples.at(-1)?.hour ?? 0) - (samples[0]?.hour ?? 0);
    if (hours < hoursMin) return [];
    const quarter = Math.floor(samples.length / 4);
    const liveMib = samples.map((sample) => sample.liveMib);
    const early = upperMedian(liveMib.slice(quarter, 2 * quarter));
    const late = upperMedian(liveMib.slice(-quarter));
    const resident = Math.max(...samples.map(({ residentMib }) => residentMib));
    return [{ worker, hours, early, late, slope: fitSlope(samples.slice(quarter)) * 24, resident, isFlat: late <= early * (1 + growthMax) }]; // prettier-ignore
  });
}

/** Fits a line by least squares. Returns its slope in MiB per hour. */
function fitSlope(samples: { hour: number; liveMib: number }[]): number {
  const mean = (pick: (one: (typeof samples)[number]) => number): number =>
    samples.reduce((sum, one) => sum + pick(one), 0) / samples.length;
  const [hour, live] = [mean((one) => one.hour), mean((one) => one.liveMib)];
  const [covariance, variance] = [
    mean((one) => (one.hour - hour) * (one.liveMib - live)),
    mean((one) => (one.hour - hour) ** 2),
  ];
  return covariance / variance;
}

/** Returns the element in the middle, or the upper one of two. */
export function upperMedian(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
