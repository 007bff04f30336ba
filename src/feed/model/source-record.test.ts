import { afterEach, expect, test, vi } from 'vitest';
import { parseInstant } from './source-record.ts';

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
