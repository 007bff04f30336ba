import { LRUCache } from 'lru-cache';
import { matchesDay, largestSetBackMs, lastZonedSlot, nextZonedSlot } from './zoned-slots.ts';

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

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const fieldShapes = {
  minute: { low: 0, high: 59, names: [] as string[] },
  hour: { low: 0, high: 23, names: [] as string[] },
  'day of month': { low: 1, high: 31, names: [] as string[] },
  month: { low: 1, high: 12, names: months },
  'day of week': { low: 0, high: 7, names: weekdays },
};

type CronFieldName = keyof typeof fieldShapes;

/** The values of a field. `isUnrestricted` is Vixie cron's term for a field that begins with `*`. */
type CronField = { values: Set<number>; isUnrestricted: boolean };

/** Parses one field of a cron expression. Throws an Error that names the field and the invalid element. */
function parseField(name: CronFieldName, text: string): CronField {
  const values = new Set<number>();
  for (const element of text.split(',')) for (const value of parseElement(name, element)) values.add(value);
  return { values, isUnrestricted: text.startsWith('*') };
}

function parseElement(name: CronFieldName, element: string): number[] {
  const { low, high } = fieldShapes[name];
  const match = /^(?:(\*)|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:\/([0-9]+))?$/i.exec(element);
  if (!match) throw invalidElement(name, element, 'is not a number, name, range or step');
  const [, star, from, to, step] = match;
  if (step !== undefined && !star && to === undefined)
    throw invalidElement(name, element, 'has a step without a range');
  const stepSize = step === undefined ? 1 : Number(step);
  if (stepSize < 1 || stepSize > high) throw invalidElement(name, element, `has a step outside 1-${high}`);
  const [first, last] = star ? [low, high] : parseRange(name, from!, to, element);
  if (first > last) throw invalidElement(name, element, 'is a range that runs backwards');
  const count = Math.floor((last - first) / stepSize) + 1;
  return Array.from({ length: count }, (_, index) => first + index * stepSize);
}

/** Parses a value or a range. `sun` as the end of a range means 7, so `fri-sun` is 5-7. */
function parseRange(name: CronFieldName, from: string, to: string | undefined, element: string): [number, number] {
  const first = parseValue(name, from, element);
  if (to === undefined) return [first, first];
  const endsOnSunday = name === 'day of week' && to.toLowerCase() === 'sun';
  return [first, endsOnSunday ? 7 : parseValue(name, to, element)];
}

function parseValue(name: CronFieldName, text: string, element: string): number {
  const { low, high, names } = fieldShapes[name];
  const nameIndex = names.indexOf(text.toLowerCase());
  if (nameIndex < 0 && !/^[0-9]+$/.test(text)) throw invalidElement(name, element, 'has a name that does not exist');
  const value = nameIndex < 0 ? Number(text) : nameIndex + low;
  if (value < low || value > high) throw invalidElement(name, element, `is outside ${low}-${high}`);
  return value;
}

function invalidElement(name: CronFieldName, element: string, reason: string): Error {
  return new Error(`The ${name} field is invalid: "${element}" ${reason}.`);
}

// A pure memo: parsing depends on the text alone, so sharing the entries between callers is safe.
const parsedCrons = new LRUCache<string, { cron: Cron; intervalMs: number | undefined }>({ max: 2_000 });

function findOrParse(text: string): { cron: Cron; intervalMs: number | undefined } {
  const known = parsedCrons.get(text);
  if (known) return known;
  const [, zone, fields = text] = /^CRON_TZ=(\S+) (.*)$/.exec(text) ?? [];
  const entry = { cron: parseCron(fields, zone), intervalMs: undefined };
  parsedCrons.set(text, entry);
  return entry;
}

/** Returns the text under which a schedule is stored: with a time zone, it begins with `CRON_TZ=`, as in cronie. */
export const toStoredCron = (text: string, zone: string | null): string =>
  zone === null ? text : `CRON_TZ=${zone} ${text}`;

/** Parses a stored cron expression once and caches it: thousands of schedules share a few expressions. */
export const parseStoredCron = (text: string): Cron => findOrParse(text).cron;

/** Returns the longest interval between neighboring slots of a stored cron expression, in milliseconds. */
export function slotIntervalMs(text: string): number {
  const entry = findOrParse(text);
  entry.intervalMs ??= longestIntervalMs(entry.cron);
  return entry.intervalMs;
}

/** Returns a lower bound of `lookbackMs` without walking the calendar for the slot interval. */
export function minLookbackMs(lookbackMinutes: number | null): number {
  return lookbackMinutes === null ? dayMs : lookbackMinutes * 60_000;
}

/**
 * Returns how long a window may stay unexamined before it becomes a gap. The default is the larger of 24 hours and three times
 * the longest slot interval.
 */
export function lookbackMs(cron: string | null, lookbackMinutes: number | null): number {
  if (lookbackMinutes !== null) return lookbackMinutes * 60_000;
  return cron === null ? dayMs : Math.max(dayMs, 3 * slotIntervalMs(cron));
}
