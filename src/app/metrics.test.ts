import { expect, test } from 'vitest';
import { limitReads } from './metrics.ts';

/** Counts reads that take `tookMs` each, on a clock of their own. */
function startReads(tookMs: number) {
  const state = { nowMs: 0, reads: 0 };
  const read = limitReads(
    async () => {
      state.reads += 1;
      state.nowMs += tookMs;
      if (state.reads === 3) throw new Error('no database');
      return state.reads;
    },
    { minMs: 1_000, maxMs: 60_000 },
    () => state.nowMs,
  );
  return { state, read };
}

test('repeats a fast read after the minimum, and shares it until then', async () => {
  const { state, read } = startReads(1);
  expect(await Promise.all([read(), read()])).toEqual([1, 1]);
  state.nowMs = 1_000;
  expect(await read()).toBe(1);
  state.nowMs = 1_001;
  expect(await read()).toBe(2);
});

test.each([
  [200, 20_000],
  [5_000, 60_000],
])('repeats a read of %i ms only after %i ms', async (tookMs, afterMs) => {
  const { state, read } = startReads(tookMs);
  await read();
  state.nowMs = afterMs;
  expect(await read()).toBe(1);
  state.nowMs = afterMs + 1;
  expect(await read()).toBe(2);
});

test('reports a failure until the next read', async () => {
  const { state, read } = startReads(1);
  await read();
  state.nowMs = 2_000;
  await read();
  state.nowMs = 4_000;
  await expect(read()).rejects.toThrow('no database');
  await expect(read()).rejects.toThrow('no database');
  state.nowMs = 6_000;
  expect(await read()).toBe(4);
});
