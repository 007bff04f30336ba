import { expect, test } from 'vitest';
import { fitsInBacktest } from './backtest-range.ts';

const now = new Date('2026-11-01T12:30:00Z');

test.each([
  [null, 2160, true],
  ['* * * * *', 1, true],
  ['* * * * *', 6, false],
  ['*/5 * * * *', 6, true],
  ['*/5 * * * *', 24, false],
  ['0 * * * *', 168, true],
  ['0 * * * *', 199, true],
  ['0 * * * *', 201, false],
  ['0 * * * *', 336, false],
  ['0 6 * * *', 2160, true],
  ['not readable here', 24, true],
  ['not readable here', 168, false],
])('a backtest of the schedule %s over %d hours fits: %s', (cron, hours, fits) => {
  expect(fitsInBacktest(cron, hours, now)).toBe(fits);
});
