import type { Clock } from '../src/platform/lib/clock.ts';
import { hourMs } from './world.ts';

/** Slot time that goes with the machine's clock, never past the hour that it is in, and leaps to the next one when told. */
export function leapingClock(start: Date): { now: Clock; leap: (to: Date) => void } {
  let base = start.getTime();
  let told = performance.now();
  return {
    now: () => {
      const end = Math.floor(base / hourMs + 1) * hourMs - 1;
      return new Date(Math.min(end, Math.floor(base + performance.now() - told)));
    },
    leap: (to) => {
      base = to.getTime();
      told = performance.now();
    },
  };
}
