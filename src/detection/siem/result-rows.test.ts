import { afterAll, expect, test, vi } from 'vitest';
import { searchSlices } from './result-rows.ts';

// Only requests take time.
vi.useFakeTimers({ toFake: ['performance'] });
afterAll(() => vi.useRealTimers());

const window = { from: new Date(0), to: new Date(1024) };
const optionsWith = (timeoutMs: number) => ({
  limits: { rowsMax: 1000, groupsMax: 10, timeoutMs },
  aggregate: false,
  timeField: 't',
});

test('returns the first part of a window that cannot be read in time', async () => {
  const found = await searchSlices(window, optionsWith(500), async ({ from, to }) => {
    vi.advanceTimersByTime(10);
    await Promise.resolve();
    const isCut = to.getTime() - from.getTime() > (from.getTime() === 0 ? 512 : 4);
    return { rows: isCut ? [] : [{ t: from.toISOString() }], isCut };
  });
  expect(found).toMatchObject({ truncated: true });
  expect(found.rows[0]).toEqual({ t: new Date(0).toISOString() });
  expect(found.rows.length).toBeLessThan(100);
});

test('sorts times of one second with and without a fraction', async () => {
  const times = ['00Z', '00.001Z', '00.0010001Z', '00.12Z', '00.1234567Z', '01Z'].map(
    (end) => `2024-06-01T00:00:${end}`,
  );
  const rows = times.toReversed().map((t) => ({ t }));
  const found = await searchSlices(window, optionsWith(500), () => Promise.resolve({ rows, isCut: false }));
  expect(found.rows.map(({ t }) => t)).toEqual(times);
});

test('blames the author if no part of the window can be read in time', async () => {
  const result = searchSlices(window, optionsWith(60), async () => {
    vi.advanceTimersByTime(25);
    await Promise.resolve();
    return { rows: [], isCut: true };
  });
  await expect(result).rejects.toMatchObject({ failure: { kind: 'query_timeout', blame: 'author' } });
});
