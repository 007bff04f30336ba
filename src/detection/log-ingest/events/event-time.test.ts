import { expect, test } from 'vitest';
import { findEventId } from './parse-event.ts';
import { findEventTime, parseTime } from './event-time.ts';

const iso = (micros: number | undefined): string | undefined =>
  micros === undefined
    ? undefined
    : new Date(Math.floor(micros / 1000)).toISOString().slice(0, -1) + String(micros % 1000).padStart(3, '0');

test.each<[unknown, string]>([
  ['2023-07-10T12:11:15Z', '2023-07-10T12:11:15.000000'],
  ['2023-07-10T12:11:15.123456789Z', '2023-07-10T12:11:15.123456'],
  ['2023-07-10T12:11:15+02:00', '2023-07-10T10:11:15.000000'],
  ['2023-07-10T12:11:15-0530', '2023-07-10T17:41:15.000000'],
  ['2020-09-21 07:15:25.082', '2020-09-21T07:15:25.082000'],
  ['2020-09-21 07:15:25,082 UTC', '2020-09-21T07:15:25.082000'],
  ['2020/09/21 07:15:25', '2020-09-21T07:15:25.000000'],
  ['Mon Sep 21 07:15:25 2020 UTC', '2020-09-21T07:15:25.000000'],
  ['Mon Sep 21 07:15:25 2020', '2020-09-21T07:15:25.000000'],
  ['[21/Sep/2020:07:15:25 +0000]', '2020-09-21T07:15:25.000000'],
  ['1600672525082123456', '2020-09-21T07:15:25.082123'],
  ['20200921T071525Z', '2020-09-21T07:15:25.000000'],
  ['9/21/2020 7:15:25 AM', '2020-09-21T07:15:25.000000'],
  ['12/1/2020 12:00:00 AM', '2020-12-01T00:00:00.000000'],
  ['12/1/2020 12:30:00 PM', '2020-12-01T12:30:00.000000'],
  ['10/Oct/2020:13:55:36 -0700', '2020-10-10T20:55:36.000000'],
  ['/Date(1600672525082)/', '2020-09-21T07:15:25.082000'],
  ['Mon, 21 Sep 2020 07:15:25 GMT', '2020-09-21T07:15:25.000000'],
  ['Mon, 21 Sep 2020 07:15:25 +0200', '2020-09-21T05:15:25.000000'],
  ['Sep 21, 2020 07:15:25', '2020-09-21T07:15:25.000000'],
  [1_600_672_525, '2020-09-21T07:15:25.000000'],
  [1_600_672_525.5, '2020-09-21T07:15:25.500000'],
  [1_600_672_525_082, '2020-09-21T07:15:25.082000'],
  [1_600_672_525_082_123, '2020-09-21T07:15:25.082123'],
  ['1600672525', '2020-09-21T07:15:25.000000'],
  ['1600672525.25', '2020-09-21T07:15:25.250000'],
  [{ '@SystemTime': '2020-09-21T07:15:25.082Z' }, '2020-09-21T07:15:25.082000'],
  [{ '#attributes': { SystemTime: '2020-09-21T07:15:25Z' } }, '2020-09-21T07:15:25.000000'],
  [{ $date: 1_600_672_525_082 }, '2020-09-21T07:15:25.082000'],
])('parses %j as %s', (value, expected) => {
  expect(iso(parseTime(value))).toBe(expected);
});

test('parses a FILETIME', () => {
  const filetime = (Date.UTC(2020, 8, 21) + 11_644_473_600_000) * 10_000;
  expect(Math.abs(parseTime(filetime)! - Date.UTC(2020, 8, 21) * 1000)).toBeLessThan(1000);
});

test.each([
  null, '', 'yesterday', '2020-09-21', '2020/09/21', '20200921', '07:15:25', '2020-09/21 07:15:25', 0, -1, NaN, true, [], {}, '2020-02-30T00:00:00Z', '2020-13-01', '25:00', 'Sep 21 07:15:25', '1601-01-01T00:00:00Z',
  '9999-12-31T23:59:59Z', 42, '12', 'x'.repeat(1000), '2020-09-21T99:00:00Z',
])('does not parse %j', (value) => {
  expect(parseTime(value)).toBeUndefined();
}); // prettier-ignore

test('prefers the requested field, then the usual fields in order of reliability', () => {
  const event = {
    EventTime: '2020-01-01 10:00:00',
    '@timestamp': '2020-01-01T12:00:00Z',
    a: { when: '2021-01-01T00:00:00Z' },
    'b.c': '2022-01-01T00:00:00Z',
  };
  expect(iso(findEventTime(event))).toBe('2020-01-01T12:00:00.000000');
  expect(iso(findEventTime(event, 'a.when'))).toBe('2021-01-01T00:00:00.000000');
  expect(iso(findEventTime(event, 'b.c'))).toBe('2022-01-01T00:00:00.000000');
  expect(iso(findEventTime(event, 'none'))).toBe('2020-01-01T12:00:00.000000');
  expect(findEventTime({ '@timestamp': 'broken', x: 1 })).toBeUndefined();
  expect(findEventTime({ constructor: 1, a: null }, 'a.b.c')).toBeUndefined();
});

test.each<[Record<string, unknown>, string | undefined]>([
  [{ date: '2026-11-28', time: '07:00:00', tz: '-0500' }, '2026-11-28T12:00:00.000000'],
  [{ date: '2026-11-28', time: '07:00:00' }, '2026-11-28T07:00:00.000000'],
  [{ date: '2026-11-28', time: '07:00:00', tz: 'somewhere' }, undefined],
  [{ date: '2026-11-28' }, undefined],
  [{ time: '07:00:00' }, undefined],
  [{ date: '2026-11-28', ts: 1_795_849_200 }, '2026-11-28T07:00:00.000000'],
  [{ message: 'type=EXECVE msg=audit(1795849200.123:456): argc=1' }, '2026-11-28T07:00:00.123000'],
  [{ message: '2026-11-28T07:00:00Z' }, undefined],
  [{ msg: 'saw audit(1795849200.123:456)' }, undefined],
])('finds the time of %j', (event, expected) => {
  expect(iso(findEventTime(event))).toBe(expected);
});

test('accepts a date without a time of day only as the requested field', () => {
  expect(iso(findEventTime({ day: '2026-11-28' }, 'day'))).toBe('2026-11-28T00:00:00.000000');
  expect(iso(findEventTime({ date: '2026-11-28', time: '07:00:00' }, 'date'))).toBe('2026-11-28T07:00:00.000000');
});

test.each<[Record<string, unknown>, string | undefined]>([
  [{ eventID: 'f0cce5bc-5f9e-4ee1-bb48-e20fecb32403' }, 'f0cce5bc-5f9e-4ee1-bb48-e20fecb32403'],
  [{ event: { id: 'CXWv6p3arKYeMETxOg' } }, 'CXWv6p3arKYeMETxOg'],
  [{ 'event.id': 'CXWv6p3arKYeMETxOg' }, 'CXWv6p3arKYeMETxOg'],
  [{ EventID: 4624 }, undefined],
  [{ eventId: '4624' }, undefined],
  [{ id: 42 }, undefined],
  [{ uid: '0' }, undefined],
  [{ uid: 'CXWv6p3arKYeMETxOg' }, undefined],
  [{ metadata: { uid: 'CXWv6p3arKYeMETxOg' } }, 'CXWv6p3arKYeMETxOg'],
  [{ uid: 'S-1-5-21-3940915590-64593676-1414006259-500' }, undefined],
  [{ id: 'arn:aws:iam::123837392027:user/x' }, undefined],
  [{ id: 'a tab\tin a long enough text' }, undefined],
])('the ID of %j is %s', (event, expected) => {
  expect(findEventId(event)).toBe(expected);
});
