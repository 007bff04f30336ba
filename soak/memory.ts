import type { Life } from './workers.ts';

/** Resident memory of a process that lived long enough to tell: medians of its second and last quarters, and the slope in MiB a day of slot time. */
export type MemoryFigure = {
  worker: number;
  hours: number;
  early: number;
  late: number;
  slope: number;
  isFlat: boolean;
};

const hoursMin = 96;
/** A heap breathes by this much from one collection to the next. */
const breathMib = 40;

export function memoryFigures(lives: Life[]): MemoryFigure[] {
  return lives.flatMap(({ worker, samples }) => {
    const hours = (samples.at(-1)?.hour ?? 0) - (samples[0]?.hour ?? 0);
    if (hours < hoursMin) return [];
    const quarter = Math.floor(samples.length / 4);
    const early = median(samples.slice(quarter, 2 * quarter).map(({ mib }) => mib));
    const late = median(samples.slice(-quarter).map(({ mib }) => mib));
    return [{ worker, hours, early, late, slope: slopeOf(samples.slice(quarter)) * 24, isFlat: late - early <= Math.max(breathMib, 0.2 * early) }]; // prettier-ignore
  });
}

/** By least squares, in MiB an hour. */
function slopeOf(samples: { hour: number; mib: number }[]): number {
  const mean = (pick: (one: (typeof samples)[number]) => number): number =>
    samples.reduce((sum, one) => sum + pick(one), 0) / samples.length;
  const [hour, mib] = [mean((one) => one.hour), mean((one) => one.mib)];
  const [over, under] = [mean((one) => (one.hour - hour) * (one.mib - mib)), mean((one) => (one.hour - hour) ** 2)];
  return over / under;
}

export function median(values: number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
