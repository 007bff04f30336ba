import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { type Db, inOrg } from '../../db/db.ts';
import type { Caller } from '../../http/caller.ts';
import type { OrgId } from '../../lib/org-id.ts';
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
  /** Removes the sessions of a person from the cache, after this process changed what the person may do. */
  forgetPerson: (personId: string) => void;
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
        ...(session.person_id !== null && { personId: session.person_id }),
        isSuspended,
        requestsPerMinute,
      };
      cache.set(name, caller);
      return caller;
    },
    isActive: (orgId, id) => inOrg(db, orgId, (tx) => isSessionActive(tx, orgId, id, { now: new Date(), idleMs })),
    forgetSession: (id) => forget((caller) => caller.sessionId === id),
    forgetKey: (keyId) => forget((caller) => caller.keyId === keyId),
    forgetPerson: (personId) => forget((caller) => caller.personId === personId),
  };
}

const name = 'tocsin_session';

/** Returns the session token of a request. */
export const readSessionCookie = ({ headers }: FastifyRequest): string | undefined =>
  headers.cookie === undefined ? undefined : parseCookie(headers.cookie)[name];

type Cookie = { token: string; expiresAt: Date };

/** Sets the cookie: never readable by scripts, never sent by other sites, and over HTTPS only if the request came over it. */
export function setSessionCookie(request: FastifyRequest, reply: FastifyReply, { token, expiresAt }: Cookie): void {
  const value = stringifySetCookie({
    name,
    value: token,
    path: `${request.server.basePath}/`,
    httpOnly: true,
    sameSite: 'strict',
    secure: isHttps(request),
    expires: expiresAt,
  });
  void reply.header('set-cookie', value).header('cache-control', 'no-store');
}

export function clearSessionCookie(request: FastifyRequest, reply: FastifyReply): void {
  setSessionCookie(request, reply, { token: '', expiresAt: new Date(0) });
}

/**
 * Returns whether a request came over HTTPS, also if a proxy in front says so in a header. A client that lies about it only restricts its
 * own cookie.
 */
export const isHttps = ({ protocol, headers }: FastifyRequest): boolean =>
  protocol === 'https' || headers['x-forwarded-proto'] === 'https';
