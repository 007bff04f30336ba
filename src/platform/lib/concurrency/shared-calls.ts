/**
 * Shares calls with the same key. One call runs at a time. Callers that arrive while it runs, or in the same turn of the event loop, share the
 * next one, so that every result is as new as if the work had started with the call. A failed call fails for those that share it.
 */
export type SharedCalls<T> = (key: string, work: () => Promise<T>) => Promise<T>;

type Calls<T> = { running: Promise<unknown>; next: Promise<T> | undefined };

/** Creates shared calls without any running. Each key has its own. */
export function createSharedCalls<T>(): SharedCalls<T> {
  const callsByKey = new Map<string, Calls<T>>();
  const runNext = async (key: string, calls: Calls<T>, work: () => Promise<T>): Promise<T> => {
    await calls.running.catch(() => undefined);
    calls.next = undefined;
    const result = work();
    calls.running = result;
    const finish = (): void => {
      if (calls.next === undefined) callsByKey.delete(key);
    };
    result.then(finish, finish);
    return result;
  };
  return (key, work) => {
    const calls = callsByKey.get(key) ?? { running: Promise.resolve(), next: undefined };
    callsByKey.set(key, calls);
    calls.next ??= runNext(key, calls, work);
    return calls.next;
  };
}

const charsMax = 512;

/**
 * Returns a function like `compute` that remembers the results for at most `textsMax` texts of at most 512 characters, and then forgets all of
 * them. Callers share the results and must not change them.
 */
export function rememberResults<T>(compute: (text: string) => T, textsMax: number): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    if (text.length > charsMax) return compute(text);
    const remembered = known.get(text);
    if (remembered !== undefined || known.has(text)) return remembered!;
    const result = compute(text);
    if (known.size >= textsMax) known.clear();
    known.set(text, result);
    return result;
  };
}

/** Waits for work that others may share, until the signal of this caller aborts. Throws its reason. */
export function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([work, aborted]);
}
