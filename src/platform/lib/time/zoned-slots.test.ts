import { Cron as Croner } from 'croner';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { toStoredCron, parseStoredCron, slotIntervalMs, lastSlot, nextSlot, parseCron, type Cron } from './cron.ts';
import { isTimeZone } from './zoned-slots.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const at = (text: string): Date => new Date(text);

/** Zones whose clocks change by an hour, half an hour or two hours, north and south, at midnight, or that skipped a whole day. */
const zones = [
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Australia/Lord_Howe',
  'Australia/Sydney',
  'Antarctica/Troll',
  'Africa/Casablanca',
  'Asia/Beirut',
  'Asia/Kathmandu',
  'America/St_Johns',
  'Pacific/Apia',
];

/** Returns the local time of a moment as if it were UTC, by formatted text: another way than the implementation's. */
function createWallClock(zone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'medium' });
  return (ms) => Date.parse(`${format.format(ms).replace(' ', 'T')}Z`);
}

function fits({ minute, hours, daysOfMonth, daysOfWeek, months, isEitherDayEnough }: Cron, local: number): boolean {
  const date = new Date(local);
  const [onDate, onWeekday] = [daysOfMonth.has(date.getUTCDate()), daysOfWeek.has(date.getUTCDay())];
  return (
    date.getUTCMinutes() === minute &&
    hours.includes(date.getUTCHours()) &&
    months.has(date.getUTCMonth() + 1) &&
    (isEitherDayEnough ? onDate || onWeekday : onDate && onWeekday)
  );
}

/** Walks the clocks of a zone minute by minute and applies the documented rules. */
function walkSlots(cron: Cron, from: number, to: number): number[] {
  const wallClock = createWallClock(cron.zone!);
  const seen = new Set<number>();
  const candidates: number[] = [];
  let previous = wallClock(from - minuteMs);
  for (let ms = from; ms < to; ms += minuteMs) {
    const local = wallClock(ms);
    // A skipped time runs as much later as it would have been without the change.
    for (let skipped = previous + minuteMs; skipped < local; skipped += minuteMs)
      if (fits(cron, skipped)) candidates.push(ms + (skipped - previous - minuteMs));
    if (fits(cron, local) && (cron.hours.length === 24 || !seen.has(local))) candidates.push(ms);
    seen.add(local);
    previous = local;
  }
  const slots: number[] = [];
  for (const ms of candidates.toSorted((a, b) => a - b)) if (ms - (slots.at(-1) ?? 0) >= hourMs) slots.push(ms);
  return slots;
}

/** Returns the first moment after which the offset of a zone differs, or undefined. */
function findChange(zone: string, from: number, days: number): number | undefined {
  const wallClock = createWallClock(zone);
  for (let ms = from; ms < from + days * dayMs; ms += dayMs)
    if (wallClock(ms) - ms !== wallClock(ms + dayMs) - ms - dayMs) return ms;
  return undefined;
}

const hourField = fc.oneof(
  fc.constant('*'),
  fc.constantFrom('0', '1', '2', '3', '1-3', '*/2', '0,2,3', '23', '22-23', '0-12'),
  fc.integer({ min: 0, max: 23 }).map(String),
);
const expression = fc
  .tuple(fc.constantFrom(0, 15, 30, 45, 59), hourField, fc.constantFrom('* * *', '* * 0', '* * 1-5', '1-15 * *'))
  .map((parts) => parts.join(' '));
const start = fc.integer({ min: Date.UTC(2005, 0, 1) / dayMs, max: Date.UTC(2035, 0, 1) / dayMs });

function listNext(cron: Cron, from: number, to: number): number[] {
  const slots: number[] = [];
  for (let slot = nextSlot(cron, new Date(from - 1)); slot && slot.getTime() < to; slot = nextSlot(cron, slot))
    slots.push(slot.getTime());
  return slots;
}

describe.each(zones)('slots in %s', (zone) => {
  test('match a walk over the clocks around each change', () => {
    const property = fc.property(expression, start, (text, day) => {
      const change = findChange(zone, day * dayMs, 400) ?? day * dayMs;
      const [from, to] = [change - 2 * dayMs, change + 3 * dayMs];
      const cron = parseCron(text, zone);
      expect(listNext(cron, from, to)).toEqual(walkSlots(cron, from - dayMs, to).filter((ms) => ms >= from));
    });
    fc.assert(property, { numRuns: 4 });
  });

  test('are at least an hour apart, at most the longest interval apart, and the same in both directions', () => {
    const property = fc.property(expression, start, (text, day) => {
      const stored = toStoredCron(text, zone);
      const cron = parseStoredCron(stored);
      const change = findChange(zone, day * dayMs, 400) ?? day * dayMs;
      let slot = nextSlot(cron, new Date(change - dayMs))!;
      for (let n = 0; n < 40; n++) {
        const next = nextSlot(cron, slot)!;
        const apart = next.getTime() - slot.getTime();
        expect(apart).toBeGreaterThanOrEqual(hourMs);
        // Samoa skipped a day in 2011, before the years that the limit is computed for.
        if (day * dayMs > Date.UTC(2024, 0, 1)) expect(apart).toBeLessThanOrEqual(slotIntervalMs(stored));
        expect(lastSlot(cron, next)).toEqual(next);
        expect(lastSlot(cron, new Date(next.getTime() - 1))).toEqual(slot);
        slot = next;
      }
    });
    fc.assert(property, { numRuns: 2 });
  });
});

test('match croner on days without a change of the clocks', () => {
  const property = fc.property(
    fc.constantFrom(...zones),
    expression.filter((text) => !text.includes('1-15')),
    start,
    (zone, text, day) => {
      const from = new Date(day * dayMs + 12 * hourMs);
      fc.pre(findChange(zone, day * dayMs - 2 * dayMs, 14) === undefined);
      let slot: Date | null = from;
      for (const expected of new Croner(text, { timezone: zone }).nextRuns(4, from)) {
        if (expected.getTime() > from.getTime() + 8 * dayMs) break;
        slot = nextSlot(parseCron(text, zone), slot!);
        expect(slot).toEqual(expected);
      }
    },
  );
  fc.assert(property, { numRuns: 40 });
});

test.each([
  // Berlin: clocks go from 02:00 to 03:00 on March 29, 2026, and from 03:00 back to 02:00 on October 25.
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:30:00Z', '2026-03-30T00:30:00Z']],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z']],
  ['0 2,3 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:00:00Z', '2026-03-30T00:00:00Z']],
  ['0 * * * *', 'Europe/Berlin', '2026-10-24T23:30:00Z', ['2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z']],
  ['0 9 * * 1-5', 'America/New_York', '2026-03-06T20:00:00Z', ['2026-03-09T13:00:00Z', '2026-03-10T13:00:00Z']],
  ['0 0 * * 1', 'Asia/Kathmandu', '2026-03-06T20:00:00Z', ['2026-03-08T18:15:00Z', '2026-03-15T18:15:00Z']],
  // Lord Howe: clocks go forward by half an hour, so 02:45 would be 30 minutes after 01:45.
  ['45 1-3 * * *', 'Australia/Lord_Howe', '2026-10-03T12:00:00Z', ['2026-10-03T15:15:00Z', '2026-10-03T16:45:00Z']],
  // Samoa had no December 30, 2011.
  ['0 9 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', ['2011-12-30T19:00:00Z', '2012-12-29T19:00:00Z']],
])('%s in %s after %s', (text, zone, after, expected) => {
  const cron = parseCron(text, zone);
  const first = nextSlot(cron, at(after))!;
  expect([first, nextSlot(cron, first)!]).toEqual(expected.map(at));
});

test('an hourly schedule has a slot in every hour of UTC where clocks change by whole hours', () => {
  const cron = parseCron('0 * * * *', 'Europe/Berlin');
  let slot = at('2026-01-01T00:00:00Z');
  for (let n = 0; n < 366 * 24; n += 1) {
    const next: Date = nextSlot(cron, slot)!;
    expect(next.getTime() - slot.getTime()).toBe(hourMs);
    slot = next;
    if (n % 24 === 20 && slot.getUTCMonth() % 7 !== 2) slot = new Date(slot.getTime() + 20 * hourMs);
  }
});

test.each([
  ['Europe/Berlin', true],
  ['UTC', true],
  ['Etc/GMT+5', true],
  ['America/Argentina/Buenos_Aires', true],
  ['Europe/Atlantis', false],
  ['+01:00', false],
  ['IST', false],
  ['cet', false],
  ['SystemV/EST5', false],
  ['', false],
  ['Europe/Berlin x', false],
])('%s is a time zone: %s', (name, expected) => {
  expect(isTimeZone(name)).toBe(expected);
});
