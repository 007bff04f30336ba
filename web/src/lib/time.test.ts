import { expect, test } from 'vitest';
import { formatDuration, formatRelative, formatUtc } from './time.ts';

const now = Date.parse('2026-11-22T12:00:00Z');

test.each([
  ['2026-11-22T11:59:31Z', 'now'],
  ['2026-11-22T11:58:01Z', '1m ago'],
  ['2026-11-22T09:00:00Z', '3h ago'],
  ['2026-11-20T12:00:00Z', '2d ago'],
  ['2026-11-22T13:30:00Z', 'in 1h'],
])('describes %s relative to noon as %s', (time, text) => {
  expect(formatRelative(time, now)).toBe(text);
});

test.each([
  [850, '850 ms'],
  [3200, '3.2 s'],
  [240_000, '4 min'],
  [5_400_000, '1.5 h'],
])('formats %d milliseconds as %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

test('formats a time in UTC to the second', () => {
  expect(formatUtc('2026-11-22T13:05:09.123Z')).toBe('2026-11-22 13:05:09 UTC');
});
