import { sql } from 'kysely';
import { acrossOrgs, queryRow, queryRows, type Db, type Tx } from '../../db/db.ts';
import type { OrgId } from '../../lib/org-id.ts';
import type { BoundedWorth } from '../credentials.ts';
import { isNotSuspended } from '../orgs.store.ts';
import type { PageCursor } from '../../lib/page-request.ts';

export type SessionRow = {
  id: string;
  organization_id: OrgId;
  key_id: string | null;
  person_id: string | null;
  subject: string;
  scopes: string[];
  created_at: Date;
  last_seen_at: Date;
  expires_at: Date;
  /** When the credential that signed in ends. */
  credential_expires_at: Date | null;
  is_suspended: boolean;
  requests_per_minute: number | null;
};

/** A session that is neither ended nor expired, with its key's current scopes if a key signed in and is still valid. */
const activeSessions = (now: Date, idleMs: number) => sql`
  select s.id, s.organization_id, s.key_id, s.person_id, s.subject, coalesce(k.scopes, s.scopes) as scopes, s.created_at, s.last_seen_at,
    least(s.expires_at, k.expires_at) as expires_at, least(s.credential_expires_at, k.expires_at) as credential_expires_at, not (${isNotSuspended(sql`s.organization_id`)}) as is_suspended, l.requests_per_minute
  from console_sessions s left join api_keys k on k.id = s.key_id left join organization_limits l on l.organization_id = s.organization_id
  where s.ended_at is null and s.expires_at > ${now} and s.last_seen_at > ${new Date(now.getTime() - idleMs)}
    and (s.key_id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > ${now})))`;

/** Finds an active session by the hash of its token, before the organization is known. */
export function findSessionAcrossOrgs(
  db: Db,
  tokenHash: Buffer,
  { now, idleMs }: { now: Date; idleMs: number },
): Promise<SessionRow | undefined> {
  return acrossOrgs(
    db,
    (tx) => queryRow<SessionRow>(tx)`${activeSessions(now, idleMs)} and s.token_hash = ${tokenHash}`,
  );
}

/** Returns whether a session is active, and its organization not suspended. */
export async function isSessionActive(
  tx: Tx,
  orgId: OrgId,
  id: string,
  { now, idleMs }: { now: Date; idleMs: number },
): Promise<boolean> {
  const found = await queryRow(tx)`
    ${activeSessions(now, idleMs)} and s.organization_id = ${orgId} and s.id = ${id} and ${isNotSuspended(sql`s.organization_id`)}`;
  return found !== undefined;
}

/** Returns up to `limit` + 1 active sessions, newest first. */
export function listSessionRows(
  tx: Tx,
  orgId: OrgId,
  { now, idleMs }: { now: Date; idleMs: number },
  { limit, after }: { limit: number; after: PageCursor | null },
): Promise<SessionRow[]> {
  return queryRows<SessionRow>(tx)`
    ${activeSessions(now, idleMs)} and s.organization_id = ${orgId}
      ${after ? sql`and (s.created_at, s.id) < (${after.at}, ${after.id}::uuid)` : sql``}
    order by s.created_at desc, s.id desc limit ${limit + 1}`;
}

type NewSession = Pick<
  SessionRow,
  'id' | 'key_id' | 'person_id' | 'subject' | 'created_at' | 'credential_expires_at'
> & {
  token_hash: Buffer;
};

export async function insertSession(
  tx: Tx,
  { orgId, scopes, expiresAt }: BoundedWorth,
  { id, token_hash, key_id, person_id, subject, created_at, credential_expires_at }: NewSession,
): Promise<void> {
  await sql`
    insert into console_sessions (id, organization_id, token_hash, key_id, person_id, subject, scopes, created_at, last_seen_at, expires_at, credential_expires_at)
    values (${id}, ${orgId}, ${token_hash}, ${key_id}, ${person_id}, ${subject}, ${scopes}, ${created_at}, ${created_at}, ${expiresAt},
      ${credential_expires_at})`.execute(tx);
}

/** Records that a session is in use. */
export async function touchSession(tx: Tx, orgId: OrgId, id: string, now: Date): Promise<void> {
  await sql`
    update console_sessions set last_seen_at = ${now} where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Ends a session. Returns whether it was active. */
export async function markSessionEnded(tx: Tx, orgId: OrgId, id: string, now: Date): Promise<boolean> {
  const ended = await queryRow(tx)`
    update console_sessions set ended_at = ${now} where organization_id = ${orgId} and id = ${id} and ended_at is null returning id`;
  return ended !== undefined;
}

/** Lets the sessions of a key, and what they create, expire at this time at the latest. */
export async function limitSessionsOfKey(tx: Tx, orgId: OrgId, keyId: string, until: Date): Promise<void> {
  await sql`
    update console_sessions set expires_at = least(expires_at, ${until}), credential_expires_at = least(credential_expires_at, ${until})
    where organization_id = ${orgId} and key_id = ${keyId} and ended_at is null`.execute(tx);
}

/** Gives the sessions of a person other scopes. */
export async function setScopesOfPerson(tx: Tx, { orgId, scopes }: BoundedWorth, personId: string): Promise<void> {
  await sql`
    update console_sessions set scopes = ${scopes}
      where organization_id = ${orgId} and person_id = ${personId} and ended_at is null`.execute(tx);
}

/** Ends the sessions of a person, and deletes the links that would start another one. */
export async function endSessionsOfPerson(tx: Tx, orgId: OrgId, personId: string, now: Date): Promise<void> {
  await sql`
    update console_sessions set ended_at = ${now}
      where organization_id = ${orgId} and person_id = ${personId} and ended_at is null`.execute(tx);
  await deleteLinksOfPerson(tx, orgId, personId);
}

async function deleteLinksOfPerson(tx: Tx, orgId: OrgId, personId: string): Promise<void> {
  await sql`delete from sign_in_links where organization_id = ${orgId} and person_id = ${personId}`.execute(tx);
}

/** Deletes sessions that ended or expired before a time. */
export async function deleteOldSessionsAcrossOrgs(tx: Tx, before: Date, limit: number): Promise<number> {
  const deleted = await queryRows(tx)`
    delete from console_sessions where id in (
      select id from console_sessions where least(ended_at, expires_at) < ${before} limit ${limit}) returning id`;
  return deleted.length;
}

type SignInLinkRow = { organization_id: OrgId; person_id: string | null; scopes: string[]; expires_at: Date };

/** Stores a link and deletes the expired ones. */
export async function insertSignInLinkAcrossOrgs(
  tx: Tx,
  tokenHash: Buffer,
  { orgId, scopes, expiresAt }: BoundedWorth,
): Promise<void> {
  await sql`delete from sign_in_links where expires_at < now()`.execute(tx);
  await sql`
    insert into sign_in_links (token_hash, organization_id, scopes, expires_at)
    values (${tokenHash}, ${orgId}, ${scopes}, ${expiresAt})`.execute(tx);
}

/** Deletes a link and returns it, so that no other request can use it. */
export function takeSignInLinkAcrossOrgs(tx: Tx, tokenHash: Buffer): Promise<SignInLinkRow | undefined> {
  return queryRow<SignInLinkRow>(tx)`
    delete from sign_in_links where token_hash = ${tokenHash} returning organization_id, person_id, scopes, expires_at`;
}

/** Stores the link of an invited person in place of earlier ones. */
export async function replaceLinkOfPerson(
  tx: Tx,
  { orgId, scopes, expiresAt }: BoundedWorth,
  { personId, tokenHash }: { personId: string; tokenHash: Buffer },
): Promise<void> {
  await deleteLinksOfPerson(tx, orgId, personId);
  await sql`
    insert into sign_in_links (token_hash, organization_id, person_id, scopes, expires_at)
    values (${tokenHash}, ${orgId}, ${personId}, ${scopes}, ${expiresAt})`.execute(tx);
}
