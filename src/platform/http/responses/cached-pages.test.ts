import { expect, test } from 'vitest';
import { createPageCache } from './cached-pages.ts';

test.each(['identity', 'gzip', 'br'] as const)('a cached page keeps no memory but its own (%s)', async (encoding) => {
  const cache = createPageCache();
  for (const body of ['{"items":[]}', `{"items":["${'x'.repeat(3_000)}"]}`]) {
    const bytes = await cache.put(body, Buffer.from(body)).bytes(encoding);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
});

test('keeps nothing of the key, which a client chooses', () => {
  const cache = createPageCache(1_000_000);
  const keys = Array.from({ length: 500 }, (_, n) => `${n}${'x'.repeat(10_000)}`);
  for (const key of keys) cache.put(key, Buffer.from(`{"items":[],"n":${key.length}}`));
  expect(keys.filter((key) => cache.get(key))).toHaveLength(keys.length);
});
