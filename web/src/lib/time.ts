import { useSyncExternalStore } from 'react';

const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const storageKey = 'tocsin.timeZone';
const parts = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
} as const;

export const ownTimeZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

const createFormat = (timeZone: string) => new Intl.DateTimeFormat('sv-SE', { ...parts, timeZone });
const listeners = new Set<() => void>();
let timeZone = ownTimeZone;
let local = createFormat(timeZone);

/** Shows all times of the page in a zone, and with `isKept`, also those of later visits in this browser. Ignores a name that is no time zone. */
export function setTimeZone(name: string, { isKept = true } = {}): void {
  try {
    local = createFormat(name);
  } catch {
    return;
  }
  timeZone = name;
  if (isKept) localStorage.setItem(storageKey, name);
  for (const listener of listeners) listener();
}

if (typeof localStorage !== 'undefined')
  setTimeZone(localStorage.getItem(storageKey) ?? ownTimeZone, { isKept: false });

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the time zone in which the reader sees all times: that of the browser unless the reader chose another. */
export const useTimeZone = (): string => useSyncExternalStore(subscribe, () => timeZone);

/** Returns for example `4 min. ago`, or `now` for less than a minute. */
export function formatRelative(time: string, now: number): string {
  const ms = Date.parse(time) - now;
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? [];
  return unit ? relative.format(Math.trunc(ms / size!), unit) : 'now';
}

/** Returns for example `2026-11-22 14:05:09` in the reader's time zone. */
export const formatLocal = (time: string): string => local.format(new Date(time));

/** Returns for example `14:05:09` in the reader's time zone. */
export const formatClock = (time: string): string => formatLocal(time).slice(11);

/** Returns for example `2026-11-22 13:05:09 UTC`. */
export const formatUtc = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** Returns for example `UTC+1`, which a time zone is now. */
export const formatOffset = (zone: string): string =>
  new Intl.DateTimeFormat('en', { timeZone: zone, timeZoneName: 'shortOffset' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')!
    .value.replace('GMT', 'UTC');

/** Returns an instant in ISO 8601 for a time such as `2026-11-22T14:05` in the reader's time zone, as a field of a form has it. */
export function fromLocal(text: string): string {
  const wanted = Date.parse(`${text}Z`);
  const shownAs = (at: number): number => Date.parse(`${local.format(at).replace(' ', 'T')}Z`);
  // The offset at the first guess may be that of the other side of a change of the clocks.
  const guess = wanted - (shownAs(wanted) - wanted);
  return new Date(guess + wanted - shownAs(guess)).toISOString();
}

/** Returns for example `850 ms`, `3.2 s`, `4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
