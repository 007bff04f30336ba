/**
 * Shares calls with the same key. A call that comes while another one runs waits for it and shares the next with all others that wait, so that
 * every result is as new as if the work had started with the call. A call that fails, fails for those that share it.
 */
export type SharedCalls<T> = (key: string, work: () => Promise<T>) => Promise<T>;

type Calls<T> = { running: Promise<T>; next: Promise<T> | undefined };

export function createSharedCalls<T>(): SharedCalls<T> {
  const callsByKey = new Map<string, Calls<T>>();
  const start = (key: string, work: () => Promise<T>): Promise<T> => {
    const calls: Calls<T> = { running: work(), next: undefined };
    callsByKey.set(key, calls);
    const finish = (): void => {
      if (calls.next === undefined) callsByKey.delete(key);
    };
    calls.running.then(finish, finish);
    return calls.running;
  };
  return (key, work) => {
    const calls = callsByKey.get(key);
    if (!calls) return start(key, work);
    const startNext = (): Promise<T> => start(key, work);
    calls.next ??= calls.running.then(startNext, startNext);
    return calls.next;
  };
}
