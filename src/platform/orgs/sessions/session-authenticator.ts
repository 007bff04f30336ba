import { LRUCache } from 'lru-cache';
import { inOrg, type Db } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { Caller } from '../../http/caller.ts';
import { hashToken } from '../credentials.ts';
import { findSessionAcrossOrgs, isSessionActive, touchSession } from './sessions.store.ts';

/** How long a session is trusted without querying the database again. */
const cacheMs = 5_000;
const cacheMax = 10_000;
/** A session is marked as used at most this often. */
const touchMs = 60_000;

export type SessionAuthenticator = {
  /** Finds the caller of a session cookie's token. Undefined for an unknown, ended or expired session. */
  findCaller: (token: string | undefined) => Promise<Caller | undefined>;
  /** Returns whether a session is neither ended nor expired, without using it. */
  isActive: (orgId: OrgId, id: string) => Promise<boolean>;
  /** Removes a session from the cache, after this process ended it. */
  forgetSession: (id: string) => void;
  /** Removes the sessions of a key from the cache, after this process revoked the key. */
  forgetKey: (keyId: string) => void;
};

/** Creates an authenticator with a short-lived cache. A session that is not used for `idleMs` expires. */
export function createSessionAuthenticator(db: Db, { idleMs }: { idleMs: number }): SessionAuthenticator {
  const cache = new LRUCache<string, Caller>({ max: cacheMax, ttl: cacheMs });
  const forget = (matches: (caller: Caller) => boolean): void => {
    for (const [name, caller] of cache.entries()) if (matches(caller)) cache.delete(name);
  };
  return {
    async findCaller(token) {
      const hash = hashToken(token);
      if (!hash) return undefined;
      const name = hash.toString('base64');
      const cached = cache.get(name);
      if (cached) return cached;
      const now = new Date();
      const session = await findSessionAcrossOrgs(db, hash, { now, idleMs });
      if (!session) return undefined;
      const { id, organization_id: orgId, key_id: keyId, scopes } = session;
      if (now.getTime() - session.last_seen_at.getTime() > touchMs)
        await inOrg(db, orgId, (tx) => touchSession(tx, orgId, id, now));
      const { subject, is_suspended: isSuspended, requests_per_minute: requestsPerMinute } = session;
      const caller: Caller = {
        orgId,
        keyId,
        scopes: new Set(scopes),
        expiresAt: session.credential_expires_at,
        sessionId: id,
        subject,
        isSuspended,
        requestsPerMinute,
      };
      cache.set(name, caller);
      return caller;
    },
    isActive: (orgId, id) => inOrg(db, orgId, (tx) => isSessionActive(tx, orgId, id, { now: new Date(), idleMs })),
    forgetSession: (id) => forget((caller) => caller.sessionId === id),
    forgetKey: (keyId) => forget((caller) => caller.keyId === keyId),
  };
}
