import { randomBytes } from 'node:crypto';
import { hashKey } from '../key-secret.ts';

/** A secret for a cookie or a link. Only its hash is stored. */
export type GeneratedToken = { text: string; hash: Buffer };

export function generateToken(): GeneratedToken {
  const text = randomBytes(32).toString('base64url');
  return { text, hash: hashKey(text) };
}

/** Returns the hash of a presented token, or undefined if it cannot be one. */
export const hashToken = (text: string | undefined): Buffer | undefined =>
  text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text) ? hashKey(text) : undefined;
