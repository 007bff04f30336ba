import { inOrg, type Db } from '../../db/db.ts';
import type { Caller } from '../../orgs/caller.ts';
import { isKeyActive } from '../../orgs/orgs.store.ts';
import type { SessionAuthenticator } from '../../orgs/sessions/session-authenticator.ts';

export type CallerCheckDeps = { db: Db; sessions: Pick<SessionAuthenticator, 'isActive'> };

/** Returns a function that reports whether the key or session of a caller has not ended since it was authenticated. */
export const createCallerCheck =
  ({ db, sessions }: CallerCheckDeps) =>
  ({ orgId, keyId, sessionId }: Caller): Promise<boolean> => {
    if (sessionId !== undefined) return sessions.isActive(orgId, sessionId);
    return keyId === null ? Promise.resolve(true) : inOrg(db, orgId, (tx) => isKeyActive(tx, orgId, keyId));
  };
