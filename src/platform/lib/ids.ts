import { randomUUID } from 'node:crypto';

let lastMs = -1;
let count = 0;

/**
 * A UUIDv7 (RFC 9562) carrying `at`, so that ids sort by time and a partitioned look-up can prune by it. Ids that one process
 * makes within a millisecond count up (section 6.2, method 1): "newest first" is exact for who makes one after the other.
 */
export function uuidv7(at: Date = new Date()): string {
  const ms = at.getTime();
  // 2048 are left to every millisecond; not starting again at each keeps the order where two clocks take turns.
  if (ms !== lastMs && count > 0x7ff) count = -1;
  count = (count + 1) & 0xfff;
  lastMs = ms;
  const time = ms.toString(16).padStart(12, '0');
  // randomUUID draws on a cache; asking for 16 random bytes each time costs several times as much, and every request has an id.
  const random = randomUUID().slice(18);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}${random}`;
}

/** The time a UUIDv7 carries; for any other hexadecimal id a date that no row has. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}
