import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../logging/logger.ts';

export type LoopOptions = {
  name: string;
  idleMs: number;
  signal: AbortSignal;
  log: Logger;
  /** Waits for `idleMs` before the first step too, for work that is not urgent in a process that has just started. */
  startsIdle?: boolean;
};

const errorPauseMaxMs = 30_000;

/**
 * Calls `step` until the signal aborts: immediately again after it returned true (there was work), after `idleMs` when it
 * returned false, and with a growing pause while it throws. Errors never end the loop. A step that the signal interrupts is no error.
 */
export async function runLoop(
  { name, idleMs, signal, log, startsIdle = false }: LoopOptions,
  step: () => Promise<boolean>,
): Promise<void> {
  let failures = 0;
  let pauseMs = startsIdle ? idleMs : 0;
  for (;;) {
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return;
    try {
      pauseMs = (await step()) ? 0 : idleMs;
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      pauseMs = Math.min(errorPauseMaxMs, 500 * 2 ** failures);
      log.error({ err: error, loop: name, failures }, 'loop step failed');
    }
  }
}

/** Runs the same step in several loops at once, so that a slow step does not delay the others. */
export const runLoops = async (count: number, options: LoopOptions, step: () => Promise<boolean>): Promise<void> => {
  const names = Array.from({ length: count }, (_, index) => `${options.name} ${index}`);
  await Promise.all(names.map((name) => runLoop({ ...options, name }, step)));
};

/** Returns a function that calls another unless it did so in the last `ms`. `calledAt` is when it did, by `performance.now()`. */
export function atMostEvery(ms: number, call: () => Promise<void>, calledAt = -Infinity): () => Promise<void> {
  return async () => {
    if (performance.now() - calledAt < ms) return;
    calledAt = performance.now();
    await call();
  };
}
