import { LRUCache } from 'lru-cache';

const dayMs = 86_400_000;

type Zone = { format: Intl.DateTimeFormat; offsets: LRUCache<number, number>; largestShiftMs: number | undefined };

// A pure memo: offsets follow from the tz database of the process. A formatter costs far more than a lookup.
const zones = new LRUCache<string, Zone>({ max: 100 });

/** Returns whether the process knows an IANA time zone such as `Europe/Berlin`. Plain offsets such as `+01:00` are no zones. */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+\-/]{0,99}$/.test(name)) return false;
  try {
    findZone(name);
    return true;
  } catch {
    return false;
  }
}

function findZone(name: string): Zone {
  const known = zones.get(name);
  if (known) return known;
  const format = new Intl.DateTimeFormat('en-US-u-ca-iso8601', {
    timeZone: name,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  });
  const zone = { format, offsets: new LRUCache<number, number>({ max: 1_000 }), largestShiftMs: undefined };
  zones.set(name, zone);
  return zone;
}

/** Returns how far local time is ahead of UTC at a moment, in milliseconds. */
export function offsetAt(name: string, ms: number): number {
  const zone = findZone(name);
  const day = Math.floor(ms / dayMs);
  const [before, after] = [midnightOffset(zone, day), midnightOffset(zone, day + 1)];
  // A day without a change of the offset needs no further look-up. No zone changes there and back within a day.
  return before === after ? before : readOffset(zone, ms);
}

function midnightOffset(zone: Zone, day: number): number {
  const known = zone.offsets.get(day);
  if (known !== undefined) return known;
  const offset = readOffset(zone, day * dayMs);
  zone.offsets.set(day, offset);
  return offset;
}

function readOffset({ format }: Zone, ms: number): number {
  const parts = Object.fromEntries(format.formatToParts(ms).map(({ type, value }) => [type, Number(value)]));
  const { year, month, day, hour, minute, second } = parts as Record<string, number>;
  const local = Date.UTC(year!, month! - 1, day, hour, minute, second);
  return local - Math.floor(ms / 1000) * 1000;
}

/**
 * Returns the moments at which the clocks of a zone show a local time, in order. `local` is the local time as if it were UTC. A time
 * that occurs twice has two moments. A time that is skipped has one: the moment that the clocks would have reached without the change.
 */
export function findMoments(name: string, local: number): number[] {
  // Offsets lie between -12 and +14 hours. A change within two days before or after may apply.
  const offsets = new Set([offsetAt(name, local - dayMs), offsetAt(name, local), offsetAt(name, local + dayMs)]);
  const moments = [...offsets].map((offset) => local - offset);
  const shown = moments.filter((moment) => moment + offsetAt(name, moment) === local);
  if (shown.length > 0) return [...new Set(shown)].toSorted((a, b) => a - b);
  return [local - offsetAt(name, local - dayMs)];
}

/** Returns by how much the clocks of a zone are set back at most, as of the tz database for the years 2024 to 2034. */
export function largestSetBackMs(name: string): number {
  const zone = findZone(name);
  if (zone.largestShiftMs !== undefined) return zone.largestShiftMs;
  let largest = 0;
  let previous = readOffset(zone, Date.UTC(2024, 0, 1));
  for (let ms = Date.UTC(2024, 0, 1); ms < Date.UTC(2034, 0, 1); ms += dayMs) {
    const offset = readOffset(zone, ms);
    largest = Math.max(largest, previous - offset);
    previous = offset;
  }
  zone.largestShiftMs = largest;
  return largest;
}
