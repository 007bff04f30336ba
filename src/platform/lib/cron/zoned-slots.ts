import { matchesDay, type CronDays } from './cron-days.ts';
import { findMoments, offsetAt } from './time-zone.ts';

const dayMs = 86_400_000;
const hourMs = 3_600_000;
const searchDaysMax = 41 * 366;
/** Days before a day whose slots decide which of its slots are kept. Clocks change less often. */
const contextDays = 3;

/** A schedule in an IANA time zone, see `Cron`. */
export type ZonedCron = CronDays & { minute: number; hours: readonly number[]; zone: string };

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
