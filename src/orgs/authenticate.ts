import type { Db } from '../db/db.ts';
import type { Caller } from './caller.ts';
import { hashOf, keyIdOf, sameHash } from './secret.ts';
import { findKeyAcrossOrgs, type KeyRow } from './store.ts';

/** How long a verified key is believed without asking the database again. */
const cacheMs = 5_000;
const cacheMax = 10_000;

export type Authenticate = {
  /** The caller of an Authorization header, or undefined for none, a malformed, unknown, revoked or expired key. */
  caller: (header: string | undefined) => Promise<Caller | undefined>;
  /** Forgets a key at once, after this process revoked or rotated it. */
  forget: (keyId: string) => void;
};

/** Makes the look-up of callers, with a short memory of verified keys. */
export function createAuthenticate(db: Db): Authenticate {
  const cache = new Map<string, { caller: Caller; until: number }>();
  return {
    async caller(header) {
      const text = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
      if (text === undefined || text.length > 500) return undefined;
      const hash = hashOf(text);
      const cacheKey = hash.toString('base64');
      const known = cache.get(cacheKey);
      if (known && known.until > performance.now()) return known.caller;
      cache.delete(cacheKey);
      const key = await findKeyAcrossOrgs(db, keyIdOf(text));
      if (!key || !isValid(key, hash, new Date())) return undefined;
      const caller: Caller = { orgId: key.organization_id, keyId: key.id, scopes: new Set(key.scopes) };
      if (cache.size >= cacheMax) cache.clear();
      cache.set(cacheKey, { caller, until: performance.now() + Math.min(cacheMs, lifeMs(key)) });
      return caller;
    },
    forget(keyId) {
      for (const [cacheKey, { caller }] of cache) if (caller.keyId === keyId) cache.delete(cacheKey);
    },
  };
}

function isValid(key: KeyRow, hash: Buffer, now: Date): boolean {
  const current = sameHash(key.secret_hash, hash);
  const previous =
    key.previous_secret_hash !== null &&
    key.previous_until !== null &&
    key.previous_until > now &&
    sameHash(key.previous_secret_hash, hash);
  return (current || previous) && key.revoked_at === null && (key.expires_at === null || key.expires_at > now);
}

function lifeMs(key: KeyRow): number {
  const ends = [key.expires_at, key.previous_until].filter((end) => end !== null && end.getTime() > Date.now());
  return Math.min(cacheMs, ...ends.map((end) => end!.getTime() - Date.now()));
}
