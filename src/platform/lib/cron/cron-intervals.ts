import { longestDistanceMs, parseCron, type Cron } from './cron.ts';

const kept = new Map<string, { cron: Cron; distanceMs: number | undefined }>();
const keptMax = 10_000;
const dayMs = 86_400_000;

function entry(text: string): { cron: Cron; distanceMs: number | undefined } {
  const known = kept.get(text);
  if (known) return known;
  if (kept.size >= keptMax) kept.delete(kept.keys().next().value!);
  const made = { cron: parseCron(text), distanceMs: undefined };
  kept.set(text, made);
  return made;
}

/** A stored cron, parsed once: thousands of schedules share a few expressions. */
export const cronOf = (text: string): Cron => entry(text).cron;

/** The longest distance between neighbouring slots of a stored cron, in milliseconds. */
export function slotDistanceMs(text: string): number {
  const found = entry(text);
  found.distanceMs ??= longestDistanceMs(found.cron);
  return found.distanceMs;
}

/** A bound that costs nothing: no look-back is shorter. To know the distance of slots takes a walk through the calendar. */
export function lookbackLeastMs(lookbackMinutes: number | null): number {
  return lookbackMinutes === null ? dayMs : lookbackMinutes * 60_000;
}

/** How long a window may stay unexamined before it becomes a gap: as set, else the larger of 24 h and three times the longest distance. */
export function lookbackMs(cron: string | null, lookbackMinutes: number | null): number {
  if (lookbackMinutes !== null) return lookbackMinutes * 60_000;
  return cron === null ? dayMs : Math.max(dayMs, 3 * slotDistanceMs(cron));
}
