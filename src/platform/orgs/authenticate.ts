import { hash } from 'node:crypto';
import type { Db } from '../db/db.ts';
import type { Caller } from './caller.ts';
import { hashOf, keyIdOf, sameHash } from './key-secret.ts';
import { findKeyAcrossOrgs, type KeyRow } from './orgs.store.ts';

/** How long a verified key is believed without asking the database again. */
const cacheMs = 5_000;
const cacheMax = 10_000;

export type Authenticate = {
  /** The caller of an Authorization header whose key was verified within the last seconds: what most requests come with. */
  known: (header: string | undefined) => Caller | undefined;
  /** The caller of an Authorization header, or undefined for none, a malformed, unknown, revoked or expired key. Asks the database. */
  find: (header: string | undefined) => Promise<Caller | undefined>;
  /** Forgets a key at once, after this process revoked or rotated it. */
  forget: (keyId: string) => void;
};

/** Makes the look-up of callers, with a short memory of verified keys. */
export function createAuthenticate(db: Db): Authenticate {
  const cache = new Map<string, { caller: Caller; until: number }>();
  return {
    known(header) {
      const text = keyIn(header);
      const known = text === undefined ? undefined : cache.get(nameOf(text));
      return known && known.until > performance.now() ? known.caller : undefined;
    },
    async find(header) {
      const text = keyIn(header);
      if (text === undefined) return undefined;
      cache.delete(nameOf(text));
      const key = await findKeyAcrossOrgs(db, keyIdOf(text));
      if (!key || !isValid(key, hashOf(text), new Date())) return undefined;
      const caller: Caller = { orgId: key.organization_id, keyId: key.id, scopes: new Set(key.scopes) };
      if (cache.size >= cacheMax) cache.clear();
      cache.set(nameOf(text), { caller, until: performance.now() + Math.min(cacheMs, lifeMs(key)) });
      return caller;
    },
    forget(keyId) {
      for (const [cacheKey, { caller }] of cache) if (caller.keyId === keyId) cache.delete(cacheKey);
    },
  };
}

function keyIn(header: string | undefined): string | undefined {
  const text = /^bearer +(\S+)$/i.exec(header ?? '')?.[1];
  return text === undefined || text.length > 500 ? undefined : text;
}

/** A key is remembered by its hash alone; as text, since making a Buffer of it would cost every request more than the hash. */
const nameOf = (text: string): string => hash('sha256', text, 'base64');

function isValid(key: KeyRow, given: Buffer, now: Date): boolean {
  const current = sameHash(key.secret_hash, given);
  const previous =
    key.previous_secret_hash !== null &&
    key.previous_until !== null &&
    key.previous_until > now &&
    sameHash(key.previous_secret_hash, given);
  return (current || previous) && key.revoked_at === null && (key.expires_at === null || key.expires_at > now);
}

function lifeMs(key: KeyRow): number {
  const ends = [key.expires_at, key.previous_until].filter((end) => end !== null && end.getTime() > Date.now());
  return Math.min(cacheMs, ...ends.map((end) => end!.getTime() - Date.now()));
}
