import type { Deps } from './deps.ts';

/** Runs every loop until the signal ends them; answers when the last has ended. */
export async function runWorker(deps: Deps, signal: AbortSignal): Promise<void> {
  await Promise.all([]);
  void deps;
  void signal;
}
