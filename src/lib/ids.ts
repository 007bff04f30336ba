import { randomBytes } from 'node:crypto';

let lastMs = -1;
let count = 0;

/**
 * A UUIDv7 (RFC 9562) carrying `at`, so that ids sort by time and a partitioned look-up can prune by it. Ids that one process
 * makes within a millisecond count up (section 6.2, method 1): "newest first" is exact for who makes one after the other.
 */
export function uuidv7(at: Date = new Date()): string {
  const bytes = randomBytes(16);
  const ms = at.getTime();
  // 2048 are left to every millisecond; not starting again at each keeps the order where two clocks take turns.
  if (ms !== lastMs && count > 0x7ff) count = -1;
  count = (count + 1) & 0xfff;
  lastMs = ms;
  bytes.writeUIntBE(ms, 0, 6);
  bytes.writeUInt16BE(0x7000 | count, 6);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The time a UUIDv7 carries; for any other hexadecimal id a date that no row has. */
export function timeOfId(id: string): Date {
  return new Date(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16));
}
