import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A key as its holder sees it: `tcs_<keyId>_<secret>`. */
export type PlainKey = { id: string; text: string; hash: Buffer };

/** The id under which the key of the environment is kept; no generated id has this form. */
export const environmentKeyId = 'environment';

export function newPlainKey(id = randomBytes(9).toString('hex')): PlainKey {
  const text = `tcs_${id}_${randomBytes(24).toString('base64url')}`;
  return { id, text, hash: hashOf(text) };
}

/** The key id a presented key names; a key that is not of our making can only be the environment's. */
export function keyIdOf(text: string): string {
  return /^tcs_([0-9a-f]{18})_[A-Za-z0-9_-]{32}$/.exec(text)?.[1] ?? environmentKeyId;
}

/** Keys are long and random, so a plain hash keeps them; no slow one is needed. */
export function hashOf(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

export function sameHash(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
