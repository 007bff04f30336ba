import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Db } from '../db/db.ts';
import { earlierEnd, hashKey, parseKeyId, equalHashes } from './credentials.ts';
import type { Caller } from '../http/caller.ts';
import { findKeyAcrossOrgs, type KeyRow } from './orgs.store.ts';

/** How long a verified key is trusted without querying the database again. */
const cacheMs = 5_000;
const cacheMax = 10_000;

export type KeyAuthenticator = {
  /** Returns the caller of an Authorization header if its key was verified within the last seconds. */
  findCachedCaller: (header: string | undefined) => Caller | undefined;
  /** Queries the database for the caller of an Authorization header. Undefined for a missing, malformed, unknown, revoked or expired key. */
  findCaller: (header: string | undefined) => Promise<Caller | undefined>;
  /** Removes a key from the cache, after this process revoked or rotated it. */
  forgetKey: (keyId: string) => void;
};

/** Creates an authenticator with a short-lived cache of verified keys. */
export function createKeyAuthenticator(db: Db): KeyAuthenticator {
  const cache = new LRUCache<string, { caller: Caller; expiresAtMs: number }>({ max: cacheMax });
  return {
    findCachedCaller(header) {
      const text = parseBearerKey(header);
      const cached = text === undefined ? undefined : cache.get(cacheKey(text));
      return cached && cached.expiresAtMs > performance.now() ? cached.caller : undefined;
    },
    async findCaller(header) {
      const text = parseBearerKey(header);
      if (text === undefined) return undefined;
      cache.delete(cacheKey(text));
      const key = await findKeyAcrossOrgs(db, parseKeyId(text));
      const secret = key && findSecret(key, hashKey(text), new Date());
      if (!secret) return undefined;
      const caller: Caller = {
        orgId: key.organization_id,
        keyId: key.id,
        scopes: new Set(key.scopes),
        expiresAt: secret.expiresAt,
        isSuspended: key.is_suspended,
        requestsPerMinute: key.requests_per_minute,
      };
      cache.set(cacheKey(text), { caller, expiresAtMs: performance.now() + Math.min(cacheMs, remainingLifeMs(key)) });
      return caller;
    },
    forgetKey(keyId) {
      for (const [name, { caller }] of cache) if (caller.keyId === keyId) cache.delete(name);
    },
  };
}

function parseBearerKey(header: string | undefined): string | undefined {
  const text = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return text === undefined || text.length > 500 ? undefined : text;
}

/** The cache stores hashes, not keys. Text, because creating a Buffer would cost every request more than the hash itself. */
const cacheKey = (text: string): string => hash('sha256', text, 'base64');

/** Returns when the secret with this hash ends: with its key, and a previous secret with the overlap. Undefined if it is not valid. */
function findSecret(key: KeyRow, hash: Buffer, now: Date): { expiresAt: Date | null } | undefined {
  const { previous_secret_hash: previous, previous_until: previousUntil, expires_at: keyEnd } = key;
  if (key.revoked_at !== null || (keyEnd !== null && keyEnd <= now)) return undefined;
  if (equalHashes(key.secret_hash, hash)) return { expiresAt: keyEnd };
  if (!previous || !previousUntil || previousUntil <= now || !equalHashes(previous, hash)) return undefined;
  return { expiresAt: earlierEnd(previousUntil, keyEnd) };
}

function remainingLifeMs(key: KeyRow): number {
  const ends = [key.expires_at, key.previous_until].filter((end) => end !== null && end.getTime() > Date.now());
  return Math.min(cacheMs, ...ends.map((end) => end!.getTime() - Date.now()));
}
