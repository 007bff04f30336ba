import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { appError } from '../lib/errors.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Caller } from '../http/caller.ts';

/** A new API key. `text` is what its owner receives: `tcs_<keyId>_<secret>`. */
type GeneratedKey = { id: string; text: string; hash: Buffer };

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

declare const isBounded: unique symbol;

/** What a credential opens, and until when. Null: it never ends. */
type Worth = { orgId: OrgId; scopes: readonly string[]; expiresAt: Date | null };

/** The worth of a credential that a caller may create or renew. Only `boundCredential` returns one, and every credential is stored with one. */
export type BoundedWorth = Worth & { readonly [isBounded]: true };

/**
 * Bounds a credential by the caller who creates, renews or replaces it: it belongs to the caller's organization, has no scope that the caller
 * lacks, and ends no later than the caller's own credential. Without `expiresAt` it ends with the caller's. Throws 403 otherwise.
 */
export function boundCredential(
  caller: Pick<Caller, 'orgId' | 'scopes' | 'expiresAt'>,
  { scopes, expiresAt = caller.expiresAt }: { scopes: readonly string[]; expiresAt?: Date | null | undefined },
): BoundedWorth {
  requireScopes(caller, scopes);
  if (caller.expiresAt !== null && (expiresAt === null || expiresAt > caller.expiresAt))
    throw appError(
      'forbidden',
      `The calling key is valid until ${caller.expiresAt.toISOString()} and cannot create or renew one that is valid longer.`,
    );
  return { orgId: caller.orgId, scopes, expiresAt } as BoundedWorth;
}

/** Throws 403 if the caller lacks one of the scopes, so that nothing acts for a caller with a power that the caller does not have. */
export function requireScopes(caller: Pick<Caller, 'scopes'>, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !caller.scopes.has(scope));
  if (missing !== undefined)
    throw appError('forbidden', `The calling key lacks the scope ${missing} and cannot grant it.`);
}

/** Returns the earlier of two ends. Null: never. */
export const earlierEnd = (one: Date, other: Date | null): Date => (other !== null && other < one ? other : one);

/** A secret for a cookie or a link. Only its hash is stored. */
type GeneratedToken = { text: string; hash: Buffer };

export function generateToken(): GeneratedToken {
  const text = randomBytes(32).toString('base64url');
  return { text, hash: hashKey(text) };
}

/** Returns the hash of a presented token, or undefined if it cannot be one. */
export const hashToken = (text: string | undefined): Buffer | undefined =>
  text !== undefined && /^[A-Za-z0-9_-]{43}$/.test(text) ? hashKey(text) : undefined;
