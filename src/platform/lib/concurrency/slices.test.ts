import fc from 'fast-check';
import { expect, test } from 'vitest';
import { flatMapInSlices, mapInSlices, stringifyInSlices } from './slices.ts';

/** Occupies the processor for some milliseconds. */
function work(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

test('lets other work run between the slices and keeps the order', async () => {
  let otherWork = 0;
  const timer = setInterval(() => (otherWork += 1), 0);
  const seenAt: number[] = [];
  const results = await mapInSlices([1, 2, 3, 4, 5, 6], (n) => {
    work(9);
    seenAt.push(otherWork);
    return n * 2;
  });
  clearInterval(timer);
  expect(results).toEqual([2, 4, 6, 8, 10, 12]);
  expect(new Set(seenAt).size).toBeGreaterThan(3);
  expect(await flatMapInSlices([1, 2], (n) => [n, n])).toEqual([1, 1, 2, 2]);
});

test('serializes like JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.string(), fc.jsonValue()), async (object) => {
      expect(await stringifyInSlices(object)).toBe(JSON.stringify(object));
    }),
  );
  for (const text of ['\n'.repeat(600_000), `${'x'.repeat(262_143)}${'😀'.repeat(200_000)}`, '\ud83d'.repeat(300_000)])
    expect(await stringifyInSlices({ text })).toBe(JSON.stringify({ text }));
  expect(await stringifyInSlices({ a: undefined, b: [undefined, 1] })).toBe('{"b":[null,1]}');
});
