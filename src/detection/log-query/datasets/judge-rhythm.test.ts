import { expect, test } from 'vitest';
import { findShortfall, hasRecovered } from './judge-rhythm.ts';

const days = 15;
const hour = days * 24 + 9;

/** Events by hour from hour 0 to `hour`, all of which the dataset has existed. */
const history = (count: (hourOfDay: number, day: number) => number): Map<number, number> =>
  new Map(Array.from({ length: hour + 1 }, (_, n) => [n, count(n % 24, Math.floor(n / 24))]));
const judge = (events: Map<number, number>, firstHour = 0) => findShortfall(events, { firstHour, hour });
const withLast = (events: Map<number, number>, values: number[]): Map<number, number> =>
  new Map([...events, ...values.map((value, index) => [hour - values.length + 1 + index, value] as const)]);

const steady = history(() => 200);
const officeHours = history((hourOfDay, day) => (day % 7 < 5 && hourOfDay >= 8 && hourOfDay < 18 ? 500 : 0));

test.each<[string, Map<number, number>, ReturnType<typeof judge>]>([
  ['as usual', steady, undefined],
  ['silent for an hour', withLast(steady, [0]), { hours: 1, events: 0, expected: 200 }],
  ['less than half', withLast(steady, [99]), { hours: 1, events: 99, expected: 200 }],
  ['half', withLast(steady, [100]), undefined],
  ['a weekday that is silent like a weekend', withLast(officeHours, [0, 0]), undefined],
  [
    'few events, none in two hours',
    withLast(
      history(() => 3),
      [0, 0],
    ),
    undefined,
  ],
  [
    'few events, none in four hours',
    withLast(
      history(() => 3),
      [0, 0, 0, 0],
    ),
    { hours: 4, events: 0, expected: 12 },
  ],
  [
    'few events, fewer in the last day',
    withLast(
      history(() => 4),
      Array(24).fill(1),
    ),
    undefined,
  ],
  [
    'rare events',
    withLast(
      history((hourOfDay) => (hourOfDay === 3 ? 1 : 0)),
      Array(24).fill(0),
    ),
    undefined,
  ],
  [
    'one batch a night that does not come',
    withLast(
      history((hourOfDay) => (hourOfDay === 3 ? 40 : 0)),
      Array(10).fill(0),
    ),
    { hours: 8, events: 0, expected: 40 },
  ],
])('%s', (_, events, expected) => {
  expect(judge(events)).toEqual(expected);
});

test('a dataset needs a week of whole hours', () => {
  const silent = withLast(steady, [0]);
  expect(judge(silent, hour - 7 * 24 - 1)).toEqual({ hours: 1, events: 0, expected: 200 });
  expect(judge(silent, hour - 7 * 24)).toBeUndefined();
});

test('a dataset recovers with half of what it should have received in a span of the same length', () => {
  const shortfall = { hours: 2, events: 0, expected: 400 };
  expect(hasRecovered(withLast(steady, [0, 199]), hour, shortfall)).toBe(false);
  expect(hasRecovered(withLast(steady, [0, 200]), hour, shortfall)).toBe(true);
  expect(hasRecovered(new Map(), hour, { hours: 24, events: 0, expected: 1 })).toBe(false);
});
