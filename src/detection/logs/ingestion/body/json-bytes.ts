// JSON text as bytes.

export const newline = 10;
export const openObject = 123;
export const closeObject = 125;

export const isSpace = (byte: number): boolean => byte === 32 || byte === 9 || byte === 13 || byte === newline;

/** Returns where the first byte that is no space is, or -1. */
export function findNonSpace(bytes: Buffer): number {
  for (let at = 0; at < bytes.length; at += 1) if (!isSpace(bytes[at]!)) return at;
  return -1;
}

/** Returns whether an object begins whose first line is only its bracket. */
export function isSpreadOverLines(bytes: Buffer): boolean {
  if (bytes[0] !== openObject) return false;
  let at = 1;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 13) at += 1;
  return bytes[at] === newline;
}

/** Adds the members in `carried` to an object. */
export function addMembers(bytes: Buffer, carried: string): Buffer {
  const first = findNonSpace(bytes);
  if (bytes[first] !== openObject) return bytes;
  const next = findNonSpace(bytes.subarray(first + 1));
  const separator = bytes[first + 1 + next] === closeObject ? '' : ',';
  return Buffer.concat([Buffer.from(`{${carried}${separator}`), bytes.subarray(first + 1)]);
}
