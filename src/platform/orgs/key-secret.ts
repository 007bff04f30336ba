import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new API key. `text` is what its owner receives: `tcs_<keyId>_<secret>`. */
export type GeneratedKey = { id: string; text: string; hash: Buffer };

/** The id of the key from TOCSIN_API_KEY. Generated ids never have this form. */
export const environmentKeyId = 'environment';

export function generateKey(id = randomBytes(9).toString('hex')): GeneratedKey {
  const text = `tcs_${id}_${randomBytes(24).toString('base64url')}`;
  return { id, text, hash: hashKey(text) };
}

/** Returns the id in a presented key. A key in another format can only be the one from TOCSIN_API_KEY. */
export function parseKeyId(text: string): string {
  return /^tcs_([0-9a-f]{18})_[A-Za-z0-9_-]{32}$/.exec(text)?.[1] ?? environmentKeyId;
}

/** Hashes a key with SHA-256. Keys are long and random, so a slow password hash is not needed. */
export function hashKey(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

export function equalHashes(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b);
}
