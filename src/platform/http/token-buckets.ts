export type TokenResult = { allowed: boolean; remaining: number; retryAfterS: number };
/** In-memory token buckets by name. Of more than `namesMax`, the oldest is forgotten. */
export type TokenBuckets = { take: (name: string) => TokenResult };

const namesMax = 50_000;

export function createTokenBuckets(options: {
  ratePerSecond: number;
  burst: number;
  now?: () => number;
}): TokenBuckets {
  const { ratePerSecond, burst, now = () => performance.now() } = options;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(name) {
      const at = now();
      const previous = buckets.get(name);
      const tokens = previous ? Math.min(burst, previous.tokens + ((at - previous.at) / 1000) * ratePerSecond) : burst;
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      if (!previous && buckets.size >= namesMax) buckets.delete(buckets.keys().next().value!);
      buckets.set(name, { tokens: left, at });
      return {
        allowed,
        remaining: Math.floor(left),
        retryAfterS: left >= 1 ? 0 : Math.max(1, Math.ceil((1 - left) / ratePerSecond)),
      };
    },
  };
}
