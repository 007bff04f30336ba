import { expect, test } from 'vitest';
import { createPageCache } from './page-cache.ts';

test.each(['identity', 'gzip', 'br'] as const)('a cached page keeps no memory but its own (%s)', async (encoding) => {
  const cache = createPageCache();
  for (const body of ['{"items":[]}', `{"items":["${'x'.repeat(3_000)}"]}`]) {
    const bytes = await cache.put(body, Buffer.from(body)).bytes(encoding);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  }
});
