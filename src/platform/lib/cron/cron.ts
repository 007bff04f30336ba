import { matchesDay } from './cron-days.ts';
import { parseField, type CronField } from './cron-field.ts';
import { largestSetBackMs } from './time-zone.ts';
import { lastZonedSlot, nextZonedSlot } from './zoned-slots.ts';

/** A schedule in UTC, or in the IANA time zone `zone`. `minute` is a single number because nothing may run more often than hourly. `hours` are in ascending order. */
export type Cron = {
  text: string;
  minute: number;
  hours: readonly number[];
  daysOfMonth: ReadonlySet<number>;
  months: ReadonlySet<number>;
  daysOfWeek: ReadonlySet<number>;
  /** True if neither day field begins with `*`. A day then has to match only one of them (crontab(5) of Vixie cron). */
  isEitherDayEnough: boolean;
  zone?: string;
};

const dayMs = 86_400_000;
const hourMs = 3_600_000;
// The Gregorian calendar repeats every 400 years. Every combination of date and weekday recurs within 40 years.
const cycleDays = 146_097;
const searchDaysMax = 41 * 366;
const textMax = 500;

/** Removes leading and trailing blanks and collapses inner runs of blanks to one space. */
export function normalizeCron(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '').replace(/[ \t]+/g, ' ');
}

/**
 * Parses five fields as Vixie cron does (crontab(5)): numbers, month and weekday names, lists, ranges and steps. Sunday is 0 or 7.
 * Throws an Error that explains the problem: invalid syntax, more than one minute of the hour, or a date that never occurs.
 * With an IANA time zone, slots follow its clocks, see `zoned-slots.ts`.
 */
export function parseCron(text: string, zone?: string): Cron {
  if (text.length > textMax) throw new Error(`A cron expression may have at most ${textMax} characters.`);
  const normalized = normalizeCron(text);
  if (normalized.startsWith('@'))
    throw new Error(`"${normalized}" is a macro, which is not supported. Write the five fields instead.`);
  const parts = normalized === '' ? [] : normalized.split(' ');
  if (parts.length !== 5) {
    throw new Error(
      `A cron expression must have five fields (minute, hour, day of month, month, day of week). This one has ${parts.length}.`,
    );
  }
  const [minutes, hours, daysOfMonth, months, weekdays] = parseFields(parts);
  if (minutes.values.size !== 1) {
    throw new Error(
      `The minute field must select exactly one minute, because a schedule may not run more often than hourly. "${parts[0]}" selects ${minutes.values.size}.`,
    );
  }
  const cron: Cron = {
    text: normalized,
    minute: [...minutes.values][0]!,
    hours: [...hours.values].toSorted((a, b) => a - b),
    daysOfMonth: daysOfMonth.values,
    months: months.values,
    daysOfWeek: new Set([...weekdays.values].map((day) => day % 7)),
    isEitherDayEnough: !daysOfMonth.isUnrestricted && !weekdays.isUnrestricted,
    ...(zone === undefined ? {} : { zone }),
  };
  if (!nextSlot(cron, new Date(0))) throw new Error(`"${normalized}" never occurs.`);
  return cron;
}

function parseFields(parts: string[]): [CronField, CronField, CronField, CronField, CronField] {
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parts as [string, string, string, string, string];
  return [
    parseField('minute', minute),
    parseField('hour', hour),
    parseField('day of month', dayOfMonth),
    parseField('month', month),
    parseField('day of week', dayOfWeek),
  ];
}

/** Returns the first slot after `after`, or null if none occurs within 41 years (the schedule never occurs). */
export function nextSlot(cron: Cron, after: Date): Date | null {
  if (cron.zone !== undefined) return nextZonedSlot({ ...cron, zone: cron.zone }, after);
  const first = Math.floor(after.getTime() / dayMs);
  for (let day = first; day <= first + searchDaysMax; day++) {
    if (!matchesDay(cron, day)) continue;
    const hour = cron.hours.find((at) => slotAt(cron, day, at) > after.getTime());
    if (hour !== undefined) return new Date(slotAt(cron, day, hour));
  }
  return null;
}

/** Returns the newest slot at or before `at`, or null if none occurred within 41 years. */
export function lastSlot(cron: Cron, at: Date): Date | null {
  if (cron.zone !== undefined) return lastZonedSlot({ ...cron, zone: cron.zone }, at);
  const first = Math.floor(at.getTime() / dayMs);
  for (let day = first; day >= first - searchDaysMax; day--) {
    if (!matchesDay(cron, day)) continue;
    const hour = cron.hours.findLast((candidate) => slotAt(cron, day, candidate) <= at.getTime());
    if (hour !== undefined) return new Date(slotAt(cron, day, hour));
  }
  return null;
}

/**
 * Returns the longest interval between two neighboring slots over the whole calendar, in milliseconds (February 29: eight years). In a
 * time zone, an interval in which the clocks are set back is longer by as much.
 */
export function longestIntervalMs(cron: Cron): number {
  const within = cron.hours.slice(1).map((hour, index) => hour - cron.hours[index]!);
  const span = cron.hours.at(-1)! - cron.hours[0]!;
  const longest = Math.max(0, ...within, longestIntervalDays(cron) * 24 - span) * hourMs;
  const setBack = cron.zone === undefined ? 0 : largestSetBackMs(cron.zone);
  // A cron expression with a slot in every hour of every day has one in the repeated hour too.
  return longest === hourMs && setBack % hourMs === 0 ? longest : longest + setBack;
}

function longestIntervalDays(cron: Cron): number {
  let previous: number | undefined;
  let longest = 0;
  for (let day = 0; day <= 2 * cycleDays; day++) {
    if (!matchesDay(cron, day)) continue;
    if (previous !== undefined) longest = Math.max(longest, day - previous);
    previous = day;
    if (day > cycleDays) break;
  }
  return longest;
}

function slotAt(cron: Cron, day: number, hour: number): number {
  return day * dayMs + hour * hourMs + cron.minute * 60_000;
}
