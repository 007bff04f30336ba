import type { Person } from './people.ts';
import type { Random } from './random.ts';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** A date of the company's calendar. `midnight` is its start in UTC, `end` the end of the logs, both in epoch milliseconds. */
export type Day = { midnight: number; end: number; seed: number };

/** A person's working hours, in epoch milliseconds. */
export type Shift = { from: number; to: number };

const weekday = (midnight: number): number => new Date(midnight).getUTCDay();

export const isMonday = (day: Day): boolean => weekday(day.midnight) === 1;
export const isWeekend = (day: Day): boolean => [0, 6].includes(weekday(day.midnight));

/** Draws a person's shift, which begins around eight local time. Returns undefined on a day off. Few people work at weekends. */
export function drawShift(person: Person, day: Day, random: Random): Shift | undefined {
  const works = random.chance(isWeekend(day) ? 0.07 : 0.94);
  const localMidnight = day.midnight - person.site.utcOffset * hourMs;
  const from = localMidnight + 7.4 * hourMs + random.next() * 2 * hourMs;
  const joined = person.joinedDaysAgo === undefined || from >= day.end - person.joinedDaysAgo * dayMs;
  return works && joined ? { from, to: from + 7.5 * hourMs + random.next() * 2 * hourMs } : undefined;
}

/** Draws random moments of a shift, in epoch milliseconds. */
export function* drawMoments(shift: Shift, count: number, random: Random): Generator<number> {
  for (let n = 0; n < count; n += 1) yield shift.from + random.next() * (shift.to - shift.from);
}
