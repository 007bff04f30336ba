import { LRUCache } from 'lru-cache';

export type TokenResult = { allowed: boolean; remaining: number; retryAfterS: number };

const namesMax = 50_000;

/** A bucket is filled at a rate up to its capacity, the burst. */
export type BucketSize = { ratePerSecond: number; burst: number };

/** Returns a function that takes a token from the in-memory bucket of a name. Of more than 50,000 names, the least recently used is forgotten. */
export function createTokenBuckets(ratePerSecond: number, burst: number): (name: string) => TokenResult {
  const take = createSizedBuckets();
  return (name) => take(name, { ratePerSecond, burst });
}

/** Like `createTokenBuckets`, for buckets that differ in size. */
export function createSizedBuckets(): (name: string, size: BucketSize) => TokenResult {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: namesMax });
  return (name, { ratePerSecond, burst }) => {
    const at = performance.now();
    const previous = buckets.get(name);
    const tokens = previous ? Math.min(burst, previous.tokens + ((at - previous.at) / 1000) * ratePerSecond) : burst;
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.set(name, { tokens: left, at });
    const retryAfterS = left >= 1 ? 0 : Math.max(1, Math.ceil((1 - left) / ratePerSecond));
    return { allowed, remaining: Math.floor(left), retryAfterS };
  };
}
