import { cronOf } from '../../platform/lib/cron/cron-intervals.ts';
import { lastSlot, nextSlot } from '../../platform/lib/cron/cron.ts';

/** The window that one slot stands for, `[from, to)`. */
export type SlotWindow = { from: Date; to: Date; slotAt: Date };

export type GapReason = string;
export type NewGap = { from: Date; to: Date; reason: GapReason };

/** What planning needs of a schedule. `boundaryAt` ends the last planned window. */
export type Planned = { cron: string; delayMs: number; boundaryAt: Date; nextSlotAt: Date };

export type Plan = {
  /** Due slots in order; `window` is null where the slot adds no time (its delay grew). */
  slots: { slotAt: Date; window: SlotWindow | null }[];
  boundaryAt: Date;
  nextSlotAt: Date | null;
  /** More slots are due than `slotsMax`: the newest planned is not the newest due. */
  more: boolean;
};

const minus = (at: Date, ms: number): Date => new Date(at.getTime() - ms);

/** Where coverage begins: at the last slot before a detection first got a schedule, `delayMs` back. */
export function coverageStart(cron: string, delayMs: number, now: Date): Date {
  return minus(lastSlot(cronOf(cron), now) ?? now, delayMs);
}

/**
 * The slots due at `now`. Each stands for the time from the end of the one before, so that the windows tile whatever
 * happened to the schedule in between: a new cron's first window joins where the old one ended.
 */
export function planDueSlots(planned: Planned, now: Date, slotsMax: number): Plan {
  const cron = cronOf(planned.cron);
  const slots: Plan['slots'] = [];
  let boundaryAt = planned.boundaryAt;
  let slotAt: Date | null = planned.nextSlotAt;
  while (slotAt && slotAt <= now && slots.length < slotsMax) {
    const to = minus(slotAt, planned.delayMs);
    const window = to > boundaryAt ? { from: boundaryAt, to, slotAt } : null;
    slots.push({ slotAt, window });
    if (window) boundaryAt = to;
    slotAt = nextSlot(cron, slotAt);
  }
  return { slots, boundaryAt, nextSlotAt: slotAt, more: slotAt !== null && slotAt <= now };
}

/** A schedule that becomes active again starts at the last slot before `now`; the time away is a gap. */
export function reopen(
  planned: Omit<Planned, 'nextSlotAt'>,
  now: Date,
  reason: GapReason,
): { boundaryAt: Date; nextSlotAt: Date | null; gap: NewGap | null } {
  const from = planned.boundaryAt;
  const to = coverageStart(planned.cron, planned.delayMs, now);
  const gap = to > from ? { from, to, reason } : null;
  return { boundaryAt: gap ? to : from, nextSlotAt: nextSlot(cronOf(planned.cron), now), gap };
}

/** Cuts a stretch of time into the slot windows of a cron: those at its ends are as long as they reach. At most `max`, the earliest. */
export function cutWindows(
  stretch: { from: Date; to: Date },
  { cron, delayMs }: { cron: string; delayMs: number },
  max: number,
): { from: Date; to: Date }[] {
  const windows: { from: Date; to: Date }[] = [];
  let { from } = stretch;
  while (from < stretch.to && windows.length < max) {
    const slot = nextSlot(cronOf(cron), new Date(from.getTime() + delayMs));
    const end = slot ? minus(slot, delayMs) : stretch.to;
    const to = end < stretch.to ? end : stretch.to;
    windows.push({ from, to });
    from = to;
  }
  return windows;
}

/** A window is out of reach once its slot lies further back than the look-back. */
export function reachesBackTo(now: Date, lookbackMs: number): Date {
  return minus(now, lookbackMs);
}

/** Neighbouring windows of the same reason make one gap. `windows` in order of time. */
export function joinGaps(windows: NewGap[]): NewGap[] {
  const joined: NewGap[] = [];
  for (const window of windows) {
    const last = joined.at(-1);
    if (last && last.to.getTime() === window.from.getTime() && last.reason === window.reason) last.to = window.to;
    else joined.push({ ...window });
  }
  return joined;
}
