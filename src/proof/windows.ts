import { cronOf } from '../schedule/crons.ts';
import { lastSlot } from '../schedule/cron.ts';
import { cutWindows } from '../schedule/timeline.ts';
import type { Window } from './simulate.ts';

const hourly = '0 * * * *';

/** The slot windows of a stretch, `max` at most; without a schedule the stretch is one window. */
export function windowsWithin(stretch: Window, cron: string | null, max: number): Window[] {
  return cron === null ? [stretch] : cutWindows(stretch, { cron, delayMs: 0 }, max);
}

/** The slot windows before a time, in order, back to `since`, the latest `max`; hours where there is no schedule. */
export function windowsBefore(before: Date, since: Date, cron: string | null, max: number): Window[] {
  const slots = cronOf(cron ?? hourly);
  const windows: Window[] = [];
  let to = before;
  while (windows.length < max && to > since) {
    const from = lastSlot(slots, new Date(to.getTime() - 1));
    if (!from) break;
    windows.unshift({ from, to });
    to = from;
  }
  return windows;
}
