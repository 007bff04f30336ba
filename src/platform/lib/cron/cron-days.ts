/** The day fields of a schedule, see `Cron`. */
export type CronDays = {
  daysOfMonth: ReadonlySet<number>;
  months: ReadonlySet<number>;
  daysOfWeek: ReadonlySet<number>;
  isEitherDayEnough: boolean;
};

const dayMs = 86_400_000;

/** Returns whether a day matches the day and month fields. `day` counts from 1970-01-01, a Thursday. */
export function matchesDay(cron: CronDays, day: number): boolean {
  const onWeekday = cron.daysOfWeek.has((((day + 4) % 7) + 7) % 7);
  if (!onWeekday && !cron.isEitherDayEnough) return false;
  const date = new Date(day * dayMs);
  if (!cron.months.has(date.getUTCMonth() + 1)) return false;
  const onDate = cron.daysOfMonth.has(date.getUTCDate());
  return cron.isEitherDayEnough ? onDate || onWeekday : onDate && onWeekday;
}
