import { listWindowsBefore, splitIntoWindows, type TimeRange } from '../../scheduling/slot-windows.ts';

const hourly = '0 * * * *';

/** Windows end at the slots of a cron schedule, minus the connection's delay. `cron` is null without a schedule. */
type WindowSchedule = { cron: string | null; delayMs: number };

/** Returns the first `max` slot windows of a time range. Without a schedule, the range is one window. */
export function windowsWithin(range: TimeRange, { cron, delayMs }: WindowSchedule, max: number): TimeRange[] {
  return cron === null ? [range] : splitIntoWindows(range, { cron, delayMs }, max);
}

/** Returns the latest `max` slot windows before a time, back to `since`, oldest first. Without a schedule, windows are hourly. */
export function windowsBefore(before: Date, since: Date, { cron, delayMs }: WindowSchedule, max: number): TimeRange[] {
  return listWindowsBefore(before, { cron: cron ?? hourly, delayMs }, { since, max }).toReversed();
}
