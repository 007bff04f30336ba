import { LRUCache } from 'lru-cache';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const searchDaysMax = 41 * 366;
/** Days before a day whose slots decide which of its slots are kept. Clocks change less often. */
const contextDays = 3;

/** A schedule in an IANA time zone, see `Cron`. */
type ZonedCron = CronDays & { minute: number; hours: readonly number[]; zone: string };

/**
 * Returns the slots of a schedule with a time zone on the local days from `first` to `last` (days since 1970-01-01), in order. A local
 * time that is skipped when clocks go forward runs once, as much later. A local time that occurs twice runs once, at its first
 * occurrence, unless the schedule runs in every hour. A slot less than an hour after the previous one is left out.
 */
function listSlots(cron: ZonedCron, first: number, last: number): number[] {
  const runsEveryHour = cron.hours.length === 24;
  const moments = new Set<number>();
  for (let day = first; day <= last; day++) {
    if (!matchesDay(cron, day)) continue;
    for (const hour of cron.hours) {
      const found = findMoments(cron.zone, day * dayMs + hour * hourMs + cron.minute * 60_000);
      for (const moment of runsEveryHour ? found : found.slice(0, 1)) moments.add(moment);
    }
  }
  const slots: number[] = [];
  for (const moment of [...moments].toSorted((a, b) => a - b)) {
    if (moment - (slots.at(-1) ?? -Infinity) >= hourMs) slots.push(moment);
  }
  return slots;
}

/** Like `nextSlot`, for a schedule with a time zone. */
export function nextZonedSlot(cron: ZonedCron, after: Date): Date | null {
  const first = localDay(cron, after) - 1;
  for (let day = first; day <= first + searchDaysMax; day++) {
    if (!matchesDay(cron, day)) continue;
    const slot = listSlots(cron, day - contextDays, day + 1).find((ms) => ms > after.getTime());
    if (slot !== undefined) return new Date(slot);
  }
  return null;
}

/** Like `lastSlot`, for a schedule with a time zone. */
export function lastZonedSlot(cron: ZonedCron, at: Date): Date | null {
  const first = localDay(cron, at) + 1;
  for (let day = first; day >= first - searchDaysMax; day--) {
    if (!matchesDay(cron, day)) continue;
    const slot = listSlots(cron, day - contextDays, day + 1).findLast((ms) => ms <= at.getTime());
    if (slot !== undefined) return new Date(slot);
  }
  return null;
}

const localDay = ({ zone }: ZonedCron, at: Date): number =>
  Math.floor((at.getTime() + offsetAt(zone, at.getTime())) / dayMs);

/** The day fields of a schedule, see `Cron`. */
type CronDays = {
  daysOfMonth: ReadonlySet<number>;
  months: ReadonlySet<number>;
  daysOfWeek: ReadonlySet<number>;
  isEitherDayEnough: boolean;
};

/** Returns whether a day matches the day and month fields. `day` counts from 1970-01-01, a Thursday. */
export function matchesDay(cron: CronDays, day: number): boolean {
  const onWeekday = cron.daysOfWeek.has((((day + 4) % 7) + 7) % 7);
  if (!onWeekday && !cron.isEitherDayEnough) return false;
  const date = new Date(day * dayMs);
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const onDate = cron.daysOfMonth.has(date.getUTCDate());
  return cron.isEitherDayEnough ? onDate || onWeekday : onDate && onWeekday;
}

type Zone = { format: Intl.DateTimeFormat; offsets: LRUCache<number, number>; largestShiftMs: number | undefined };

// A pure memo: offsets follow from the tz database of the process. A formatter costs far more than a lookup.
const zones = new LRUCache<string, Zone>({ max: 100 });

// Abbreviations, which PostgreSQL reads as other zones than the process, and names that only the process still has.
const notIana = /^(?:(?!UTC|GMT)[A-Z]{3}|SystemV\/.*|US\/Pacific-New|Canada\/East-Saskatchewan)$/i;

/** Returns whether a name is that of an IANA time zone such as `Europe/Berlin`. Offsets and abbreviations such as `+01:00` and `CET` are not. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,99}$/.test(name) || notIana.test(name)) return false;
  try {
    findZone(name);
    return true;
  } catch {
    return false;
  }
}

function findZone(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  });
  const zone = { format, offsets: new LRUCache<number, number>({ max: 1_000 }), largestShiftMs: undefined };
  zones.set(name, zone);
  return zone;
}

/** Returns how far local time is ahead of UTC at a moment, in milliseconds. */
function offsetAt(name: string, ms: number): number {
  const zone = findZone(name);
  const day = Math.floor(ms / dayMs);
  const [before, after] = [midnightOffset(zone, day), midnightOffset(zone, day + 1)];
  // A day without a change of the offset needs no further look-up. No zone changes there and back within a day.
  return before === after ? before : readOffset(zone, ms);
}

function midnightOffset(zone: Zone, day: number): number {
  const known = zone.offsets.get(day);
  if (known !== undefined) return known;
  const offset = readOffset(zone, day * dayMs);
  zone.offsets.set(day, offset);
  return offset;
}

function readOffset({ format }: Zone, ms: number): number {
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  const local = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return local - Math.floor(ms / 1000) * 1000;
}

/**
 * Returns the moments at which the clocks of a zone show a local time, in order. `local` is the local time as if it were UTC. A time
 * that occurs twice has two moments. A time that is skipped has one: the moment that the clocks would have reached without the change.
 */
function findMoments(name: string, local: number): number[] {
  // Offsets lie between -12 and +14 hours. A change within two days before or after may apply.
  const offsets = new Set([offsetAt(name, local - dayMs), offsetAt(name, local), offsetAt(name, local + dayMs)]);
  const moments = [...offsets].map((offset) => local - offset);
  const shown = moments.filter((moment) => moment + offsetAt(name, moment) === local);
  if (shown.length > 0) return [...new Set(shown)].toSorted((a, b) => a - b);
  return [local - offsetAt(name, local - dayMs)];
}

/** Returns by how much the clocks of a zone are set back at most, as of the tz database for the years 2024 to 2034. */
export function largestSetBackMs(name: string): number {
  const zone = findZone(name);
  if (zone.largestShiftMs !== undefined) return zone.largestShiftMs;
  let largest = 0;
  let previous = readOffset(zone, Date.UTC(2024, 0, 1));
  for (let ms = Date.UTC(2024, 0, 1); ms < Date.UTC(2034, 0, 1); ms += dayMs) {
    const offset = readOffset(zone, ms);
    largest = Math.max(largest, previous - offset);
    previous = offset;
  }
  zone.largestShiftMs = largest;
  return largest;
}
