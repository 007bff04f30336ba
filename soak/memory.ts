import type { Life } from './workers.ts';

/**
 * Memory of a process that lived long enough to tell: what was held in its second and last quarter (medians, MiB), the slope of that in MiB a
 * day of slot time, and the most that was resident.
 */
export type MemoryFigure = { worker: number; hours: number; early: number; late: number; slope: number; resident: number; isFlat: boolean }; // prettier-ignore

const hoursMin = 96;
/** Caches that have an end fill by less than this. */
const growthMax = 0.2;

export function memoryFigures(lives: Life[]): MemoryFigure[] {
  return lives.flatMap(({ worker, samples }) => {
    const hours = (samples.at(-1)?.hour ?? 0) - (samples[0]?.hour ?? 0);
    if (hours < hoursMin) return [];
    const quarter = Math.floor(samples.length / 4);
    const held = samples.map(({ live }) => live);
    const early = median(held.slice(quarter, 2 * quarter));
    const late = median(held.slice(-quarter));
    const resident = Math.max(...samples.map(({ mib }) => mib));
    return [{ worker, hours, early, late, slope: slopeOf(samples.slice(quarter)) * 24, resident, isFlat: late <= early * (1 + growthMax) }]; // prettier-ignore
  });
}

/** By least squares, in MiB an hour. */
function slopeOf(samples: { hour: number; live: number }[]): number {
  const mean = (pick: (one: (typeof samples)[number]) => number): number =>
    samples.reduce((sum, one) => sum + pick(one), 0) / samples.length;
  const [hour, live] = [mean((one) => one.hour), mean((one) => one.live)];
  const [over, under] = [mean((one) => (one.hour - hour) * (one.live - live)), mean((one) => (one.hour - hour) ** 2)];
  return over / under;
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
