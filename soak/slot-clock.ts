import type { Clock } from '../src/platform/lib/time/clock.ts';
import { hourMs } from './scripted-events.ts';

/** Creates a slot clock that follows the machine's clock but stops at the end of its hour until `set` moves it to a new time. */
export function createSlotClock(start: Date): { now: Clock; set: (time: Date) => void } {
  let baseMs = start.getTime();
  let setAtMs = performance.now();
  return {
    now: () => {
      const endMs = Math.floor(baseMs / hourMs + 1) * hourMs - 1;
      return new Date(Math.min(endMs, Math.floor(baseMs + performance.now() - setAtMs)));
    },
    set: (time) => {
      baseMs = time.getTime();
      setAtMs = performance.now();
    },
  };
}
