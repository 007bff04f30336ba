import { expect, test } from 'vitest';
import { describeMeasure, describeSteps } from './wording.ts';

test.each([
  [{ unit: 'rows', count: 7 }, '7 rows'],
  [{ unit: 'rows', count: 1 }, '1 row'],
  [{ unit: 'count', count: 250 }, 'a count of 250'],
  [{ unit: 'n', count: 250 }, 'a count of 250'],
  [{ unit: 'value', count: 2.5 }, 'a value of 2.5'],
  [{ unit: 'bytes_sent', count: 4096 }, '4096 bytes_sent'],
  [{ count: 3 }, '3'],
])('describes the number of %j as %s', (facts, text) => {
  expect(describeMeasure(facts)).toBe(text);
});

test('calls two steps both', () => {
  expect([2, 3].map((steps) => describeSteps({ steps }))).toEqual(['both steps', 'all 3 steps']);
});
