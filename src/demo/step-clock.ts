import type { Clock } from '../platform/lib/clock.ts';

/** A slot clock that stands still until it is moved, and goes with the real one once it is released. */
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
