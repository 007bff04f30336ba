import { inOrg, type Db, acrossOrgs, type Tx } from '../../db/db.ts';
import { appError, type AppError } from '../../lib/errors.ts';
import { readPageRequest, toPage, type PageQuery } from '../../lib/page-request.ts';
import { insertAudit } from '../audit.store.ts';
import type { Caller } from '../../http/caller.ts';
import { findOrgName, findKey, isSuspended } from '../orgs.store.ts';
import { markSignedIn, scopesOf, storeProvidedPerson, type PersonRow } from './persons.store.ts';
import type { SessionAuthenticator } from './session-authenticator.ts';
import type { CurrentSession, Session, SessionList } from './sessions.schema.ts';
import {
  listSessionRows,
  markSessionEnded,
  type SessionRow,
  insertSession,
  insertSignInLinkAcrossOrgs,
  takeSignInLinkAcrossOrgs,
} from './sessions.store.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { KeyAuthenticator } from '../authenticate.ts';
import { boundCredential, earlierEnd, generateToken, hashToken } from '../credentials.ts';
import { suspendedError } from '../organization.ts';

export type SessionsDeps = { db: Db; sessions: SessionAuthenticator; config: { sessionIdleMinutes: number } };

/** Returns who is signed in, and where. */
export async function getCurrentSession({ db }: { db: Db }, caller: Caller): Promise<CurrentSession> {
  const organization = await inOrg(db, caller.orgId, (tx) => findOrgName(tx, caller.orgId));
  return {
    organization: { id: caller.orgId, name: organization ?? '' },
    scopes: [...caller.scopes].toSorted(),
    sessionId: caller.sessionId ?? null,
    subject: caller.subject ?? null,
    personId: caller.personId ?? null,
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
  personId: row.person_id,
  createdAt: row.created_at.toISOString(),
  lastSeenAt: row.last_seen_at.toISOString(),
  expiresAt: row.expires_at.toISOString(),
  isCurrent: row.id === sessionId,
});

export type SignInDeps = { db: Db; auth: KeyAuthenticator; config: { sessionDays: number } };

/** Who signs in, as shown to people. */
type Identity = {
  subject: string;
  /** The identity provider that vouches for the person, and its ID of the person. */
  provider?: { issuer: string; subject: string };
  /** The invited person. */
  personId?: string;
};

/** A new session. `token` goes into the cookie. */
export type SignedIn = { token: string; expiresAt: Date };

const dayMs = 86_400_000;
const linkMs = 5 * 60_000;

/** Exchanges an API key for a session. Throws 401 for a key that is not valid. */
export async function signInWithKey(deps: SignInDeps, key: string): Promise<SignedIn> {
  const caller = await deps.auth.findCaller(`Bearer ${key}`);
  if (!caller?.keyId)
    throw appError('unauthorized', 'This key is not valid. Check that it is complete and not revoked.');
  const { orgId, keyId } = caller;
  const stored = await inOrg(deps.db, orgId, (tx) => findKey(tx, orgId, keyId));
  return createSession(deps, caller, { subject: stored?.name ?? keyId });
}

/**
 * Exchanges the token of a sign-in link for a session. Throws 401 if it was used before or has expired, and 403 if another machine than that of the
 * service uses a link that the service printed.
 */
export async function signInWithLink(deps: SignInDeps, token: string, isLoopback: boolean): Promise<SignedIn> {
  const hash = hashToken(token);
  const link = await acrossOrgs(deps.db, async (tx) => {
    const taken = hash && (await takeSignInLinkAcrossOrgs(tx, hash));
    if (taken?.person_id === null && !isLoopback)
      throw appError('forbidden', 'A sign-in link that the service printed works only on its own machine.');
    return taken;
  });
  if (!link || link.expires_at < new Date())
    throw appError('unauthorized', 'This link was used before or has expired. Ask for another one.');
  const { organization_id: orgId, person_id: personId, scopes } = link;
  const caller = { orgId, keyId: null, scopes: new Set(scopes), expiresAt: null };
  return createSession(deps, caller, { subject: 'Sign-in link', ...(personId !== null && { personId }) });
}

/**
 * Creates a session with the powers of the caller whose credential was verified, and records it in the audit log. `scopes` of the session count
 * only without a key: a session of a key has the key's scopes, and that of an invited person those of the person's role. Throws 403 if the
 * organization is suspended or the person disabled.
 */
export async function createSession({ db, config }: SignInDeps, caller: Caller, identity: Identity): Promise<SignedIn> {
  const { text, hash } = generateToken();
  const now = new Date();
  const { orgId, keyId } = caller;
  const expiresAt = earlierEnd(new Date(now.getTime() + config.sessionDays * dayMs), caller.expiresAt);
  const id = uuidv7(now);
  await inOrg(db, orgId, async (tx) => {
    if (await isSuspended(tx, orgId)) throw suspendedError();
    const person = await findSigningIn(tx, caller, identity, now);
    const subject = person?.name ?? identity.subject;
    const scopes = person ? scopesOf(person) : [...caller.scopes];
    const worth = boundCredential({ ...caller, scopes: new Set(scopes) }, { scopes, expiresAt });
    await insertSession(tx, worth, {
      id,
      token_hash: hash,
      key_id: keyId,
      person_id: person?.id ?? null,
      subject,
      created_at: now,
      credential_expires_at: caller.expiresAt,
    });
    const after = {
      id,
      subject,
      scopes: worth.scopes,
      ...(person && { personId: person.id }),
      ...(identity.provider && { provider: identity.provider }),
      expiresAt: expiresAt.toISOString(),
    };
    const change = { action: 'session.created', resourceType: 'session', resourceId: id, before: null, after };
    await insertAudit(tx, { orgId, keyId, subject }, change);
  });
  return { token: text, expiresAt };
}

/** Finds the person who signs in, or stores one whom the identity provider confirms. Undefined if there is none. */
async function findSigningIn(
  tx: Tx,
  { orgId, scopes }: Caller,
  { subject: name, provider, personId }: Identity,
  now: Date,
): Promise<PersonRow | undefined> {
  if (provider) {
    const person = await storeProvidedPerson(tx, orgId, { name, provider, scopes: [...scopes], now });
    if (person.disabled_at) throw disabledError();
    return person;
  }
  if (personId === undefined) return undefined;
  const person = await markSignedIn(tx, orgId, personId, now);
  if (!person) throw disabledError();
  return person;
}

const disabledError = (): AppError =>
  appError('person_disabled', 'An administrator of Tocsin disabled your access. Ask one to enable it again.');

/** Creates a link token that signs in once within five minutes, with scopes that the caller has. */
export async function createSignInLink(db: Db, caller: Caller, scopes: readonly string[]): Promise<string> {
  const { text, hash } = generateToken();
  const worth = boundCredential(caller, { scopes, expiresAt: new Date(Date.now() + linkMs) });
  await acrossOrgs(db, (tx) => insertSignInLinkAcrossOrgs(tx, hash, worth));
  return text;
}
