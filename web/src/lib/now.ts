import { useSyncExternalStore } from 'react';

const tickMs = 30_000;
let now = Date.now();
const listeners = new Set<() => void>();
setInterval(() => {
  now = Date.now();
  for (const listener of listeners) listener();
}, tickMs);

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the current time in milliseconds, renewed twice a minute for every component together. */
export const useNow = (): number => useSyncExternalStore(subscribe, () => now);
