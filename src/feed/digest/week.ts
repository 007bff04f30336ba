import { lastSlot, nextSlot, parseCron } from '../../platform/lib/time/cron.ts';

const dayMs = 86_400_000;

/** An ISO 8601 week in a time zone, from Monday at midnight to the next (exclusive). */
export type Week = { id: string; timeZone: string; from: Date; to: Date };

/** Returns the week of a moment. */
export function weekAt(at: Date, timeZone: string): Week {
  const mondays = parseCron('0 0 * * 1', timeZone);
  const from = lastSlot(mondays, at)!;
  return { id: weekIdOf(from, timeZone), timeZone, from, to: nextSlot(mondays, from)! };
}

export const weekBefore = ({ from, timeZone }: Week): Week => weekAt(new Date(from.getTime() - dayMs), timeZone);

/** Returns a week by its id, such as `2026-W48`, or undefined if the year has no such week. */
export function findWeek(id: string, timeZone: string): Week | undefined {
  const [year, number] = id.split('-W').map(Number) as [number, number];
  const wednesday = firstMonday(year) + (number - 1) * 7 + 2;
  const week = weekAt(new Date(wednesday * dayMs), timeZone);
  return week.id === id ? week : undefined;
}

/** Returns the Monday of the first week of a year, in days since 1970-01-01. The week is that of January 4. */
function firstMonday(year: number): number {
  const january4 = Date.UTC(year, 0, 4) / dayMs;
  return january4 - ((january4 + 3) % 7);
}

/** Returns the id of the week that begins at a local Monday. Its year is that of its Thursday. */
function weekIdOf(from: Date, timeZone: string): string {
  const date = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(from);
  const monday = Date.parse(date) / dayMs;
  const year = new Date((monday + 3) * dayMs).getUTCFullYear();
  return `${year}-W${String((monday - firstMonday(year)) / 7 + 1).padStart(2, '0')}`;
}
