import { parseStoredCron, nextSlot, lastSlot } from '../../platform/lib/time/cron.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** A half-open range of time, `[from, to)`. */
export type TimeRange = { from: Date; to: Date };

export type DetectionKey = { orgId: OrgId; detectionId: string };

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

/** The window that the run of one slot examines. */
export type SlotWindow = TimeRange & { slotAt: Date };

export type NewGap = TimeRange & { reason: string };

/** A schedule as slot planning reads it. `boundaryAt` is the end of the last planned window. */
type ScheduleState = WindowGrid & { boundaryAt: Date; nextSlotAt: Date };

export type SlotPlan = {
  /** Due slots in order. `window` is null for a slot that adds no time because the delay of its connection grew. */
  slots: { slotAt: Date; window: SlotWindow | null }[];
  boundaryAt: Date;
  nextSlotAt: Date | null;
  /** True if more slots are due than `slotsMax`, so the last planned slot is not the latest due one. */
  more: boolean;
};

/** Returns the start of coverage for a schedule that becomes active at `now`: `delayMs` before its latest slot. */
export function coverageStart(cron: string, delayMs: number, now: Date): Date {
  const start = subtractMs(now, delayMs);
  return findBoundaryBefore(start, { cron, delayMs }) ?? start;
}

/**
 * Plans the slots due at `now`, at most `slotsMax`. Each window starts where the previous one ended, so windows tile the
 * timeline even if the schedule changed in between: the first window of a new cron schedule starts at the end of the old one.
 */
export function planDueSlots(schedule: ScheduleState, now: Date, slotsMax: number): SlotPlan {
  const cron = parseStoredCron(schedule.cron);
  const slots: SlotPlan['slots'] = [];
  let boundaryAt = schedule.boundaryAt;
  let slotAt: Date | null = schedule.nextSlotAt;
  while (slotAt && slotAt <= now && slots.length < slotsMax) {
    const to = subtractMs(slotAt, schedule.delayMs);
    const window = to > boundaryAt ? { from: boundaryAt, to, slotAt } : null;
    slots.push({ slotAt, window });
    if (window) boundaryAt = to;
    slotAt = nextSlot(cron, slotAt);
  }
  return { slots, boundaryAt, nextSlotAt: slotAt, more: slotAt !== null && slotAt <= now };
}

/** Plans a schedule that becomes active again: it resumes at the latest slot, and the inactive time becomes a gap. */
export function planReactivation(
  schedule: Omit<ScheduleState, 'nextSlotAt'>,
  now: Date,
  reason: string,
): { boundaryAt: Date; nextSlotAt: Date | null; gap: NewGap | null } {
  const from = schedule.boundaryAt;
  const to = coverageStart(schedule.cron, schedule.delayMs, now);
  const gap = to > from ? { from, to, reason } : null;
  return { boundaryAt: gap ? to : from, nextSlotAt: nextSlot(parseStoredCron(schedule.cron), now), gap };
}

/** Merges adjacent gaps of the same reason. `gaps` must be in order of time. */
export function mergeAdjacentGaps(gaps: NewGap[]): NewGap[] {
  const merged: NewGap[] = [];
  for (const gap of gaps) {
    const last = merged.at(-1);
    if (last && last.to.getTime() === gap.from.getTime() && last.reason === gap.reason) last.to = gap.to;
    else merged.push({ ...gap });
  }
  return merged;
}
