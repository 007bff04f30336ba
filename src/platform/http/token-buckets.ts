/** Token buckets by name, in memory: at most `namesMax` are remembered, the fullest forgotten first. */
export type Buckets = { take: (name: string) => { allowed: boolean; remaining: number; retryAfterS: number } };

const namesMax = 50_000;

export function createBuckets(options: { ratePerSecond: number; burst: number; now?: () => number }): Buckets {
  const { ratePerSecond, burst, now = () => performance.now() } = options;
  const buckets = new Map<string, { tokens: number; at: number }>();
  return {
    take(name) {
      const at = now();
      const old = buckets.get(name);
      const tokens = old ? Math.min(burst, old.tokens + ((at - old.at) / 1000) * ratePerSecond) : burst;
      const allowed = tokens >= 1;
      const left = allowed ? tokens - 1 : tokens;
      if (!old && buckets.size >= namesMax) buckets.delete(buckets.keys().next().value!);
      buckets.set(name, { tokens: left, at });
      return {
        allowed,
        remaining: Math.floor(left),
        retryAfterS: left >= 1 ? 0 : Math.max(1, Math.ceil((1 - left) / ratePerSecond)),
      };
    },
  };
}
