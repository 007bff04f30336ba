import { Cron } from 'croner';
import { texts } from '../../../texts/proof.ts';

/** The service refuses a backtest of more windows. */
const windowsMax = 200;

/**
 * Returns whether the last hours before `now` hold no more windows of a schedule than a backtest examines. Without a schedule they are one
 * window. Of a schedule that only the service can read, the last 24 hours are offered.
 */
export function fitsInBacktest(cron: string | null, hours: number, now: Date): boolean {
  if (cron === null) return true;
  const from = new Date(now.getTime() - hours * 3_600_000);
  let slots: Date[];
  try {
    slots = new Cron(cron, { mode: '5-part', timezone: 'UTC', paused: true }).nextRuns(windowsMax, from);
  } catch {
    return hours <= 24;
  }
  // The time after the last slot is one more window.
  const last = slots[windowsMax - 1];
  return last === undefined || last > now;
}

/** Returns the hours of the longest range of the menu that the service examines in one request. */
export const longestHours = (cron: string | null, now: Date): number =>
  Math.max(
    1,
    ...Object.keys(texts.backtest.ranges)
      .map(Number)
      .filter((hours) => fitsInBacktest(cron, hours, now)),
  );
