import { parseField, type CronField } from './cron-field.ts';

/** A schedule in UTC. `minute` is one number: nothing runs more often than hourly. `hours` ascend; days are checked by `matchesDay`. */
export type Cron = {
  text: string;
  minute: number;
  hours: readonly number[];
  daysOfMonth: ReadonlySet<number>;
  months: ReadonlySet<number>;
  daysOfWeek: ReadonlySet<number>;
  /** Neither day field begins with `*`: a day that fits one of them is enough (crontab(5) of Vixie cron). */
  eitherDay: boolean;
};

const dayMs = 86_400_000;
const hourMs = 3_600_000;
// The calendar repeats after 400 years. Any day of a month on any weekday comes back within 40 of them.
const cycleDays = 146_097;
const farthestDays = 41 * 366;
const textMax = 500;

/** The text that is kept and shown: outer blanks gone, inner runs made one. */
export function normaliseCron(text: string): string {
  return text.replace(/^[ \t]+|[ \t]+$/g, '').replace(/[ \t]+/g, ' ');
}

/**
 * Reads five fields as Vixie cron does (crontab(5)): numbers, names of months and weekdays, lists, ranges, steps; Sunday is 0 or 7.
 * Throws an Error whose message says what is wrong: syntax, more than one minute of the hour, or a date that never comes.
 */
export function parseCron(text: string): Cron {
  if (text.length > textMax) throw new Error(`A cron expression has at most ${textMax} characters.`);
  const normal = normaliseCron(text);
  if (normal.startsWith('@')) throw new Error(`"${normal}" is a macro; write the five fields instead.`);
  const parts = normal === '' ? [] : normal.split(' ');
  if (parts.length !== 5) {
    throw new Error(
      `A cron expression has five fields (minute, hour, day of month, month, day of week); this one has ${parts.length}.`,
    );
  }
  const [minutes, hours, daysOfMonth, months, weekdays] = fields(parts);
  if (minutes.values.size !== 1) {
    throw new Error(
      `The minute field must denote exactly one minute (not more often than hourly); "${parts[0]}" denotes ${minutes.values.size}.`,
    );
  }
  const cron: Cron = {
    text: normal,
    minute: [...minutes.values][0]!,
    hours: [...hours.values].toSorted((a, b) => a - b),
    daysOfMonth: daysOfMonth.values,
    months: months.values,
    daysOfWeek: new Set([...weekdays.values].map((day) => day % 7)),
    eitherDay: !daysOfMonth.star && !weekdays.star,
  };
  if (!nextSlot(cron, new Date(0))) throw new Error(`"${normal}" never occurs.`);
  return cron;
}

function fields(parts: string[]): [CronField, CronField, CronField, CronField, CronField] {
  const [minute, hour, dayOfMonth, month, dayOfWeek] = parts as [string, string, string, string, string];
  return [
    parseField('minute', minute),
    parseField('hour', hour),
    parseField('day of month', dayOfMonth),
    parseField('month', month),
    parseField('day of week', dayOfWeek),
  ];
}

/** The first slot after `after`; null when none comes within 41 years, that is, never. */
export function nextSlot(cron: Cron, after: Date): Date | null {
  const first = Math.floor(after.getTime() / dayMs);
  for (let day = first; day <= first + farthestDays; day++) {
    if (!matchesDay(cron, day)) continue;
    const hour = cron.hours.find((at) => slotAt(cron, day, at) > after.getTime());
    if (hour !== undefined) return new Date(slotAt(cron, day, hour));
  }
  return null;
}

/** The newest slot at or before `at`; null when there was none within 41 years. */
export function lastSlot(cron: Cron, at: Date): Date | null {
  const first = Math.floor(at.getTime() / dayMs);
  for (let day = first; day >= first - farthestDays; day--) {
    if (!matchesDay(cron, day)) continue;
    const hour = cron.hours.findLast((candidate) => slotAt(cron, day, candidate) <= at.getTime());
    if (hour !== undefined) return new Date(slotAt(cron, day, hour));
  }
  return null;
}

/** The longest distance between two neighbouring slots, in milliseconds, over the whole calendar (29 February: eight years). */
export function longestDistanceMs(cron: Cron): number {
  const within = cron.hours.slice(1).map((hour, index) => hour - cron.hours[index]!);
  const span = cron.hours.at(-1)! - cron.hours[0]!;
  return Math.max(0, ...within, longestDays(cron) * 24 - span) * hourMs;
}

function longestDays(cron: Cron): number {
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

/** `day` counts from 1970-01-01, a Thursday. */
function matchesDay(cron: Cron, day: number): boolean {
  const onWeekday = cron.daysOfWeek.has((((day + 4) % 7) + 7) % 7);
  if (!onWeekday && !cron.eitherDay) return false;
  const date = new Date(day * dayMs);
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const onDate = cron.daysOfMonth.has(date.getUTCDate());
  return cron.eitherDay ? onDate || onWeekday : onDate && onWeekday;
}
