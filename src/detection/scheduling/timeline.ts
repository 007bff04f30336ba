import { parseStoredCron, nextSlot } from '../../platform/lib/time/cron.ts';
import { findBoundaryBefore, subtractMs, type TimeRange, type WindowGrid } from './slot-windows.ts';

/** The window that the run of one slot examines. */
export type SlotWindow = TimeRange & { slotAt: Date };

export type NewGap = TimeRange & { reason: string };

/** A schedule as slot planning reads it. `boundaryAt` is the end of the last planned window. */
export type ScheduleState = WindowGrid & { boundaryAt: Date; nextSlotAt: Date };

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
