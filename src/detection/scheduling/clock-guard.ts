import type { Clock } from '../../platform/lib/clock.ts';

const backMaxMs = 60_000;
const forwardMaxMs = 15 * 60_000;
const stableMs = 5 * 60_000;

export type ClockGuard = {
  /** Looks at the clock; false: scheduling is to hold still. Called at least every few seconds. */
  check: () => boolean;
  /** Why scheduling is held, for /readyz; null while all is well. */
  reason: () => string | null;
};

/**
 * Watches slot time against the monotonic clock: a jump of over one minute back or 15 minutes forward holds scheduling until
 * both have agreed for five minutes. `monotonic` in milliseconds.
 */
export function createClockGuard(clock: Clock, monotonic: () => number = () => performance.now()): ClockGuard {
  let last: { slot: number; machine: number } | undefined;
  let heldUntil = -Infinity;
  let jumpMs = 0;
  const check = (): boolean => {
    const now = { slot: clock().getTime(), machine: monotonic() };
    const drift = last === undefined ? 0 : now.slot - last.slot - (now.machine - last.machine);
    last = now;
    if (drift < -backMaxMs || drift > forwardMaxMs) {
      heldUntil = now.machine + stableMs;
      jumpMs = drift;
    }
    return now.machine >= heldUntil;
  };
  return {
    check,
    reason: () =>
      monotonic() >= heldUntil
        ? null
        : `The clock jumped by ${Math.round(jumpMs / 1000)} s; scheduling waits until it is stable.`,
  };
}
