import fc from 'fast-check';
import { afterEach, expect, test, vi } from 'vitest';
import { emptyIocs, parseInstant } from './source-record.ts';
import { buckets } from './vocabulary.ts';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['2024-01-01T10:00:00.000', '2024-01-01T10:00:00.000Z'],
  ['2024-01-01 10:00:00', '2024-01-01T10:00:00.000Z'],
  [' 2024-01-01T10:00 ', '2024-01-01T10:00:00.000Z'],
  ['2024-01-01', '2024-01-01T00:00:00.000Z'],
  ['2024-01-01T10:00:00+05:30', '2024-01-01T04:30:00.000Z'],
  ['2024-01-01T10:00:00Z', '2024-01-01T10:00:00.000Z'],
  ['soon', undefined],
  [1704067200, undefined],
])('%s in another zone than UTC', (value, expected) => {
  vi.stubEnv('TZ', 'America/New_York');
  expect(new Date(0).getHours()).toBe(19);
  expect(parseInstant(value)).toBe(expected);
});

test('reads every time in UTC like the language does', () => {
  const part = (max: number): fc.Arbitrary<string> => fc.nat({ max }).map((n) => String(n).padStart(2, '0'));
  fc.assert(
    fc.property(
      fc.tuple(fc.integer({ min: 1895, max: 2105 }), part(13), part(32), part(25), part(61), part(61)),
      fc.constantFrom('', '.5', '.123', '.123456'),
      ([year, month, day, hour, minute, second], fraction) => {
        const text = `${year}-${month}-${day}T${hour}:${minute}:${second}${fraction}Z`;
        const time = Date.parse(text);
        expect(parseInstant(text)).toBe(Number.isNaN(time) ? undefined : new Date(time).toISOString());
      },
    ),
    { numRuns: 2_000 },
  );
});

test('has a list for each bucket, in their order', () => {
  expect(Object.keys(emptyIocs())).toEqual(buckets);
});
