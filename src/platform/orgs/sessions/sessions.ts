import { inOrg, type Db } from '../../db/db.ts';
import { appError } from '../../lib/errors.ts';
import { readPageRequest, toPage, type PageQuery } from '../../lib/page-request.ts';
import { insertAudit } from '../audit.store.ts';
import type { Caller } from '../caller.ts';
import { findOrgName } from '../orgs.store.ts';
import type { SessionAuthenticator } from './session-authenticator.ts';
import type { CurrentSession, Session, SessionList } from './sessions.schema.ts';
import { listSessionRows, markSessionEnded, type SessionRow } from './sessions.store.ts';

export type SessionsDeps = { db: Db; sessions: SessionAuthenticator; config: { sessionIdleMinutes: number } };

/** Returns who is signed in, and where. */
export async function getCurrentSession({ db }: { db: Db }, caller: Caller): Promise<CurrentSession> {
  const organization = await inOrg(db, caller.orgId, (tx) => findOrgName(tx, caller.orgId));
  return {
    organization: { id: caller.orgId, name: organization ?? '' },
    scopes: [...caller.scopes].toSorted(),
    sessionId: caller.sessionId ?? null,
  };
}

export async function listSessions(
  { db, config }: SessionsDeps,
  caller: Caller,
  query: PageQuery,
): Promise<SessionList> {
  const { limit, after } = readPageRequest(query);
  const at = { now: new Date(), idleMs: config.sessionIdleMinutes * 60_000 };
  const rows = await inOrg(db, caller.orgId, (tx) => listSessionRows(tx, caller.orgId, at, { limit, after }));
  const { page, nextCursor } = toPage(rows, limit, (row) => ({ at: row.created_at, id: row.id }));
  return { sessions: page.map((row) => toSession(row, caller)), nextCursor };
}

/** Ends a session. Throws 404 if there is none with this ID that is active. */
export async function endSession({ db, sessions }: SessionsDeps, caller: Caller, id: string): Promise<{ id: string }> {
  const { orgId } = caller;
  await inOrg(db, orgId, async (tx) => {
    if (!(await markSessionEnded(tx, orgId, id, new Date()))) throw appError('not_found', `Session ${id} not found.`);
    const change = { action: 'session.ended', resourceType: 'session', resourceId: id, before: null, after: null };
    await insertAudit(tx, caller, change);
  });
  sessions.forgetSession(id);
  return { id };
}

const toSession = (row: SessionRow, { sessionId }: Caller): Session => ({
  id: row.id,
  subject: row.subject,
  keyId: row.key_id,
  createdAt: row.created_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  isCurrent: row.id === sessionId,
});
