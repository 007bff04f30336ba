// JSON text as bytes.

const tab = 9;
const carriageReturn = 13;
const space = 32;
export const newline = 10;
export const quote = 34;
export const comma = 44;
export const colon = 58;
export const backslash = 92;
export const openList = 91;
export const closeList = 93;
export const openObject = 123;
export const closeObject = 125;

export const isSpace = (byte: number): boolean =>
  byte === space || byte === tab || byte === carriageReturn || byte === newline;

/** Returns the position of the first byte from `from` on that is no space, or the length. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  while (at < bytes.length && isSpace(bytes[at]!)) at += 1;
  return at;
}

/** Returns where the first byte that is no space is, or -1. */
export function findNonSpace(bytes: Buffer): number {
  const at = skipSpace(bytes, 0);
  return at < bytes.length ? at : -1;
}

/** Returns whether an object begins whose first line is only its bracket. */
export function isSpreadOverLines(bytes: Buffer): boolean {
  if (bytes[0] !== openObject) return false;
  let at = 1;
  while (bytes[at] === space || bytes[at] === tab || bytes[at] === carriageReturn) at += 1;
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
