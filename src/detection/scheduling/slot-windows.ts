import { parseStoredCron, lastSlot, nextSlot } from '../../platform/lib/time/cron.ts';

/** A half-open range of time, `[from, to)`. */
export type TimeRange = { from: Date; to: Date };

/** The grid of window boundaries: `delayMs` before each slot of the cron schedule. The delay is the connection's. */
export type WindowGrid = { cron: string; delayMs: number };

export const subtractMs = (time: Date, ms: number): Date => new Date(time.getTime() - ms);

/** Returns the latest window boundary at or before `time`, or null if the schedule has no slot that early. */
export function findBoundaryBefore(time: Date, { cron, delayMs }: WindowGrid): Date | null {
  const slot = lastSlot(parseStoredCron(cron), subtractMs(time, -delayMs));
  return slot && subtractMs(slot, delayMs);
}

/** Splits a range at the window boundaries within it. Returns at most `max` parts, earliest first. */
export function splitIntoWindows(range: TimeRange, { cron, delayMs }: WindowGrid, max: number): TimeRange[] {
  const windows: TimeRange[] = [];
  let { from } = range;
  while (from < range.to && windows.length < max) {
    const slot = nextSlot(parseStoredCron(cron), subtractMs(from, -delayMs));
    const boundary = slot ? subtractMs(slot, delayMs) : range.to;
    const to = boundary < range.to ? boundary : range.to;
    windows.push({ from, to });
    from = to;
  }
  return windows;
}

/** Returns up to `max` windows before `end`, latest first, back to the one that contains `since`. The first ends at `end`. */
export function listWindowsBefore(
  end: Date,
  grid: WindowGrid,
  { since, max }: { since?: Date; max: number },
): TimeRange[] {
  const windows: TimeRange[] = [];
  const sinceMs = since?.getTime() ?? -Infinity;
  let to = end;
  while (windows.length < max && to.getTime() > sinceMs) {
    const from = findBoundaryBefore(subtractMs(to, 1), grid);
    if (!from) break;
    windows.push({ from, to });
    to = from;
  }
  return windows;
}
