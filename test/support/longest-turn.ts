import { readThreadMs } from './linear-time.ts';

/** A turn of less processor time than this delays nobody, and its share of a short work says nothing. */
const shortMs = 50;

/**
 * Runs the work and returns its result, and the share of the processor time of this process that this thread used in one turn of its event loop, at
 * most, or 0 if every turn was short. It is close to 1 if the work runs in this thread without letting anything else run.
 */
export async function measureLongestTurn<T>(work: () => Promise<T>): Promise<{ result: T; share: number }> {
  const started = process.cpuUsage();
  let last = readThreadMs();
  let longestMs = 0;
  const turn = (): void => {
    const now = readThreadMs();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  };
  const timer = setInterval(turn, 0);
  try {
    const result = await work();
    turn();
    const { user, system } = process.cpuUsage(started);
    return { result, share: longestMs < shortMs ? 0 : longestMs / ((user + system) / 1000) };
  } finally {
    clearInterval(timer);
  }
}
