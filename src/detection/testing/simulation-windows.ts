import { parseStoredCron } from '../../platform/lib/cron/cron-intervals.ts';
import { lastSlot } from '../../platform/lib/cron/cron.ts';
import { splitIntoWindows } from '../scheduling/timeline.ts';
import type { TimeRange } from './simulate.ts';

const hourly = '0 * * * *';

/** How windows are cut: at the slots of a cron, null for none, as far behind them as the connection lies. */
type Cut = { cron: string | null; delayMs: number };

/** The slot windows of a stretch, `max` at most; without a schedule the stretch is one window. */
export function windowsWithin(stretch: TimeRange, { cron, delayMs }: Cut, max: number): TimeRange[] {
  return cron === null ? [stretch] : splitIntoWindows(stretch, { cron, delayMs }, max);
}

/** The slot windows before a time, in order, back to `since`, the latest `max`; hours where there is no schedule. */
export function windowsBefore(before: Date, since: Date, { cron, delayMs }: Cut, max: number): TimeRange[] {
  const slots = parseStoredCron(cron ?? hourly);
  const windows: TimeRange[] = [];
  let to = before;
  while (windows.length < max && to > since) {
    const slot = lastSlot(slots, new Date(to.getTime() + delayMs - 1));
    if (!slot) break;
    const from = new Date(slot.getTime() - delayMs);
    windows.unshift({ from, to });
    to = from;
  }
  return windows;
}
