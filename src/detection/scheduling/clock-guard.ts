import type { Clock } from '../../platform/lib/time/clock.ts';

const backwardMaxMs = 60_000;
const forwardMaxMs = 15 * 60_000;
const stableMs = 5 * 60_000;

export type ClockGuard = {
  /** Compares the clocks and returns whether scheduling may continue. Call it at least every few seconds. */
  check: () => boolean;
  /** Returns why scheduling is paused, for `/readyz`, or null if it is not paused. */
  reason: () => string | null;
};

/**
 * Compares slot time with the monotonic clock. A jump of more than one minute backward or 15 minutes forward pauses scheduling
 * until both clocks have agreed for five minutes. `monotonic` returns milliseconds.
 */
export function createClockGuard(clock: Clock, monotonic: () => number = () => performance.now()): ClockGuard {
  let last: { slotMs: number; monotonicMs: number } | undefined;
  let pausedUntilMs = -Infinity;
  let jumpMs = 0;
  const check = (): boolean => {
    const now = { slotMs: clock().getTime(), monotonicMs: monotonic() };
    const driftMs = last === undefined ? 0 : now.slotMs - last.slotMs - (now.monotonicMs - last.monotonicMs);
    last = now;
    if (driftMs < -backwardMaxMs || driftMs > forwardMaxMs) {
      pausedUntilMs = now.monotonicMs + stableMs;
      jumpMs = driftMs;
    }
    return now.monotonicMs >= pausedUntilMs;
  };
  return {
    check,
    reason: () =>
      monotonic() >= pausedUntilMs
        ? null
        : `The clock jumped by ${Math.round(jumpMs / 1000)} s. Scheduling resumes when it has been stable for five minutes.`,
  };
}
