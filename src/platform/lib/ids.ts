import { randomUUID } from 'node:crypto';

// The counter is module state on purpose: it must be shared by everything that creates ids in this process.
let lastMs = -1;
let count = 0;

/**
 * Returns a UUIDv7 (RFC 9562) that carries `at`, so that ids sort by time and lookups can prune partitions. Ids that one process
 * creates within a millisecond count up (section 6.2, method 1), so "newest first" is exact within a process.
 */
export function uuidv7(at: Date = new Date()): string {
  const ms = at.getTime();
  // Every millisecond has at least 2048 values left. The counter is not reset per millisecond, which keeps the order when callers
  // alternate between two clocks.
  if (ms !== lastMs && count > 0x7ff) count = -1;
  count = (count + 1) & 0xfff;
  lastMs = ms;
  const time = ms.toString(16).padStart(12, '0');
  // randomUUID draws from a cache. Requesting 16 random bytes each time costs several times as much, and every request has an id.
  const random = randomUUID().slice(18);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}${random}`;
}

/** The UUID that sorts before every other, from which a pass in the order of IDs begins. */
export const nilId = '00000000-0000-0000-0000-000000000000';

/** Returns the lowest UUIDv7 of a millisecond. */
export function uuidAt(at: Date): string {
  const time = at.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** Returns the time that a UUIDv7 carries. Any other hexadecimal id yields an arbitrary date. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}
