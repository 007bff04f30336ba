/**
 * Returns a function that calls `call` at most once at a time. Callers that arrive during a call share the next one, so that every caller gets
 * a result that was read after it called.
 */
export function shareCalls<T>(call: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const callNext = async (): Promise<T> => {
    await current.catch(() => undefined);
    next = undefined;
    const result = call();
    current = result;
    return result;
  };
  return () => (next ??= callNext());
}
