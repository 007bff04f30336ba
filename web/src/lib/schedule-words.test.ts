import { expect, test } from 'vitest';
import { toScheduleWords } from './schedule-words.ts';

test.each([
  ['0 * * * *', 'Every hour'],
  ['17 * * * *', 'Every hour, 17 min past'],
  ['5 */6 * * *', 'Every 6 hours, 5 min past'],
  ['30 6 * * *', 'Every day at 06:30 UTC'],
  ['0 4 * * 7', 'Every Sunday at 04:00 UTC'],
  ['0 4 1 * *', undefined],
  ['0 8-18 * * 1-5', undefined],
])('puts the schedule %s into words: %s', (cron, words) => {
  expect(toScheduleWords(cron)).toBe(words);
});
