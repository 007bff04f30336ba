import { acrossOrgs, inOrg, type Db } from '../../db/db.ts';
import { appError } from '../../lib/errors.ts';
import { uuidv7 } from '../../lib/ids.ts';
import type { OrgId } from '../../lib/org-id.ts';
import { insertAudit } from '../audit.store.ts';
import type { KeyAuthenticator } from '../authenticate.ts';
import { findKey } from '../orgs.store.ts';
import { generateToken, hashToken } from './session-token.ts';
import { insertSession, insertSignInLinkAcrossOrgs, takeSignInLinkAcrossOrgs } from './sessions.store.ts';

export type SignInDeps = { db: Db; auth: KeyAuthenticator; config: { sessionDays: number } };

/** The identity that signs in. `scopes` count only without a key: a session of a key has the key's scopes. */
type Identity = {
  orgId: OrgId;
  keyId: string | null;
  subject: string;
  scopes: string[];
  /** The identity provider that vouches for the person, and its ID of the person. */
  provider?: { issuer: string; subject: string };
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
  const { orgId, keyId, scopes } = caller;
  const stored = await inOrg(deps.db, orgId, (tx) => findKey(tx, orgId, keyId));
  return createSession(deps, { orgId, keyId, subject: stored?.name ?? keyId, scopes: [...scopes] });
}

/** Exchanges the token of a sign-in link for a session. Throws 401 if it was used before or has expired. */
export async function signInWithLink(deps: SignInDeps, token: string): Promise<SignedIn> {
  const hash = hashToken(token);
  const link = hash && (await acrossOrgs(deps.db, (tx) => takeSignInLinkAcrossOrgs(tx, hash)));
  if (!link || link.expires_at < new Date())
    throw appError('unauthorized', 'This link was used before or has expired. Sign in with an API key.');
  const { organization_id: orgId, scopes } = link;
  return createSession(deps, { orgId, keyId: null, subject: 'Sign-in link', scopes });
}

/** Creates a session and records it in the audit log. */
export async function createSession({ db, config }: SignInDeps, identity: Identity): Promise<SignedIn> {
  const { text, hash } = generateToken();
  const now = new Date();
  const expiresAt = new Date(now.getTime() + config.sessionDays * dayMs);
  const id = uuidv7(now);
  const { orgId, keyId, subject, scopes, provider } = identity;
  await inOrg(db, orgId, async (tx) => {
    await insertSession(tx, {
      id,
      organization_id: orgId,
      token_hash: hash,
      key_id: keyId,
      subject,
      scopes,
      created_at: now,
      expires_at: expiresAt,
    });
    const after = { id, subject, scopes, ...(provider && { provider }), expiresAt: expiresAt.toISOString() };
    const change = { action: 'session.created', resourceType: 'session', resourceId: id, before: null, after };
    await insertAudit(tx, { orgId, keyId, subject }, change);
  });
  return { token: text, expiresAt };
}

/** Creates a link token that signs in once within five minutes, with the given scopes. */
export async function createSignInLink(db: Db, orgId: OrgId, scopes: readonly string[]): Promise<string> {
  const { text, hash } = generateToken();
  const expires_at = new Date(Date.now() + linkMs);
  await acrossOrgs(db, (tx) =>
    insertSignInLinkAcrossOrgs(tx, hash, { organization_id: orgId, scopes: [...scopes], expires_at }),
  );
  return text;
}
