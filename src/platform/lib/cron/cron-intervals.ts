import { LRUCache } from 'lru-cache';
import { longestIntervalMs, parseCron, type Cron } from './cron.ts';

// A pure memo: parsing depends on the text alone, so sharing the entries between callers is safe.
const parsedCrons = new LRUCache<string, { cron: Cron; intervalMs: number | undefined }>({ max: 2_000 });
const dayMs = 86_400_000;

function findOrParse(text: string): { cron: Cron; intervalMs: number | undefined } {
  const known = parsedCrons.get(text);
  if (known) return known;
  const [, zone, fields = text] = /^CRON_TZ=(\S+) (.*)$/.exec(text) ?? [];
  const entry = { cron: parseCron(fields, zone), intervalMs: undefined };
  parsedCrons.set(text, entry);
  return entry;
}

/** Returns the text under which a schedule is stored: with a time zone, it begins with `CRON_TZ=`, as in cronie. */
export const toStoredCron = (text: string, zone: string | null): string =>
  zone === null ? text : `CRON_TZ=${zone} ${text}`;

/** Parses a stored cron expression once and caches it: thousands of schedules share a few expressions. */
export const parseStoredCron = (text: string): Cron => findOrParse(text).cron;

/** Returns the longest interval between neighboring slots of a stored cron expression, in milliseconds. */
export function slotIntervalMs(text: string): number {
  const entry = findOrParse(text);
  entry.intervalMs ??= longestIntervalMs(entry.cron);
  return entry.intervalMs;
}

/** Returns a lower bound of `lookbackMs` without walking the calendar for the slot interval. */
export function minLookbackMs(lookbackMinutes: number | null): number {
  return lookbackMinutes === null ? dayMs : lookbackMinutes * 60_000;
}

/**
 * Returns how long a window may stay unexamined before it becomes a gap. The default is the larger of 24 hours and three times
 * the longest slot interval.
 */
export function lookbackMs(cron: string | null, lookbackMinutes: number | null): number {
  if (lookbackMinutes !== null) return lookbackMinutes * 60_000;
  return cron === null ? dayMs : Math.max(dayMs, 3 * slotIntervalMs(cron));
}
