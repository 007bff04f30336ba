type ReadLimits = { minMs: number; maxMs: number };

/** A read is repeated after this many times its duration. */
const durationsBetween = 100;

/**
 * Returns a function that shares one read between its callers. It reads again after `minMs`, but after a slow read only when a hundred times
 * the duration of that has passed, up to `maxMs`. So reading takes a hundredth of the time of one connection at most, however much there is to
 * read. Callers of a read that fails get its error until the next one.
 */
export function limitReads<T>(
  read: () => Promise<T>,
  { minMs, maxMs }: ReadLimits,
  nowMs: () => number = () => performance.now(),
): () => Promise<T> {
  let last: { result: Promise<T>; startedMs: number; tookMs: number | undefined } | undefined;
  return () => {
    if (last) {
      const { result, startedMs, tookMs } = last;
      // A read that has not finished is shared as well.
      if (tookMs === undefined) return result;
      const reusableMs = Math.min(maxMs, Math.max(minMs, tookMs * durationsBetween));
      if (nowMs() - startedMs <= reusableMs) return result;
    }
    const startedMs = nowMs();
    const current: NonNullable<typeof last> = { result: read(), startedMs, tookMs: undefined };
    const finish = (): void => void (current.tookMs = nowMs() - startedMs);
    current.result.then(finish, finish);
    last = current;
    return current.result;
  };
}
