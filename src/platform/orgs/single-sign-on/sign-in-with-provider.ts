import { AuthorizationResponseError } from 'openid-client';
import { AppError } from '../../lib/errors.ts';
import { acrossOrgs } from '../../db/db.ts';
import { findOrgAcrossOrgs } from '../orgs.store.ts';
import { createSession, type SignedIn, type SignInDeps } from '../sessions/sessions.ts';
import type { Attempt } from './attempt-cookie.ts';
import { ProviderUnreachableError, type IdentityProvider } from './identity-provider.ts';
import { mapGroups, type GroupGrants } from './oidc-settings.ts';

/** Why somebody could not sign in. The sign-in page has a sentence for each. */
const problems = ['denied', 'expired', 'no_group', 'suspended', 'unavailable', 'failed'] as const;
export type SignInProblem = (typeof problems)[number];

/** A sign-in that failed. `message` is for the log of the service. */
export class SignInError extends Error {
  readonly problem: SignInProblem;
  constructor(problem: SignInProblem, message: string, cause?: unknown) {
    super(message, { cause });
    this.problem = problem;
  }
}

type Deps = SignInDeps & { provider: IdentityProvider; groups: GroupGrants };

/** Creates a session for the person that the provider confirms. Throws a `SignInError`. */
export async function signInWithProvider(
  deps: Deps,
  search: URLSearchParams,
  attempt: Attempt | undefined,
): Promise<SignedIn> {
  if (!attempt || search.get('state') !== attempt.state)
    throw new SignInError('expired', 'The response does not belong to a sign-in that this browser started.');
  const person = await deps.provider.finish(search, attempt).catch((error: unknown) => {
    throw toSignInError(error);
  });
  const { issuer, subject, name } = person;
  const grant = mapGroups(deps.groups, person.groups);
  if (!grant) {
    const count = person.groups.length;
    throw new SignInError('no_group', `None of the ${count} groups of ${name} (${subject}) is in TOCSIN_OIDC_GROUPS.`);
  }
  const { organization, scopes } = grant;
  const org = await acrossOrgs(deps.db, (tx) => findOrgAcrossOrgs(tx, { name: organization }));
  if (!org) throw new SignInError('failed', `TOCSIN_OIDC_GROUPS: the organization ${organization} does not exist.`);
  const caller = { orgId: org.id, keyId: null, scopes: new Set<string>(scopes), expiresAt: null };
  return createSession(deps, caller, { subject: name, provider: { issuer, subject } }).catch((error: unknown) => {
    if (error instanceof AppError && error.code === 'organization_suspended')
      throw new SignInError('suspended', `The organization ${organization} is suspended.`, error);
    throw error;
  });
}

/** Converts an error of the provider or of its answer. */
export function toSignInError(error: unknown): SignInError {
  if (error instanceof AuthorizationResponseError) {
    const text = `The provider answered ${error.error}: ${error.error_description ?? 'no description'}.`;
    return new SignInError(error.error === 'access_denied' ? 'denied' : 'failed', text, error);
  }
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (cause instanceof ProviderUnreachableError) return new SignInError('unavailable', cause.message, error);
  return new SignInError('failed', (error as Error).message, error);
}
