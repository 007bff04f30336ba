import type { Clock } from '../platform/lib/time/clock.ts';

/** A clock that stands still until `set`. After `release`, it follows the real time. */
export type StepClock = { clock: Clock; set: (at: Date) => void; release: () => void };

export function createStepClock(start: Date): StepClock {
  let at: Date | undefined = start;
  return {
    clock: () => at ?? new Date(),
    set: (next) => {
      at = next;
    },
    release: () => {
      at = undefined;
    },
  };
}
