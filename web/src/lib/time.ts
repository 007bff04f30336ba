const units: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000_000],
  ['month', 2_592_000_000],
  ['week', 604_800_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'narrow' });
const local = new Intl.DateTimeFormat('sv-SE', {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});

/** Returns for example `4 min. ago`, or `now` for less than a minute. */
export function formatRelative(time: string, now: number): string {
  const ms = Date.parse(time) - now;
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? [];
  return unit ? relative.format(Math.trunc(ms / size!), unit) : 'now';
}

/** Returns for example `2026-11-22 14:05:09` in the viewer's time zone. */
export const formatLocal = (time: string): string => local.format(new Date(time));

/** Returns for example `14:05:09` in the viewer's time zone. */
export const formatClock = (time: string): string => formatLocal(time).slice(11);

/** Returns for example `2026-11-22 13:05:09 UTC`. */
export const formatUtc = (time: string): string => `${time.slice(0, 19).replace('T', ' ')} UTC`;

/** Returns for example `850 ms`, `3.2 s`, `4 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  return `${(ms / 3_600_000).toFixed(1)} h`;
}
