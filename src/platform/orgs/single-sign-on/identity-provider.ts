import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type Configuration,
  customFetch,
  type CustomFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import { parseCookie, stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { acrossOrgs } from '../../db/db.ts';
import { AppError } from '../../lib/errors.ts';
import { ExternalError } from '../../lib/external-error.ts';
import { publicFetch } from '../../lib/outbound-http/public-fetch.ts';
import { findOrgAcrossOrgs } from '../orgs.store.ts';
import { createSession, type SignedIn, type SignInDeps } from '../sessions/sessions.ts';
import { type GroupGrants, mapGroups, type OidcSettings, readGroups } from './oidc-settings.ts';
import { isHttps } from '../sessions/session-authenticator.ts';

/** A request to the provider failed: it is down, its address is wrong, or the address is private and not allowed. */
class ProviderUnreachableError extends Error {}

/** The claims about a person that the provider signed. */
export type Person = { issuer: string; subject: string; name: string; groups: string[] };

export type IdentityProvider = {
  /** Starts to sign in: returns the page of the provider to open, and what the browser must bring back from there. */
  start: (next: string) => Promise<{ url: URL; attempt: Attempt }>;
  /**
   * Exchanges the parameters that the provider sent back for the person. Throws if they do not belong to the attempt, or if the ID token is not
   * signed by the provider, for this client and this attempt, and current.
   */
  finish: (search: URLSearchParams, attempt: Attempt) => Promise<Person>;
};

const timeoutSeconds = 10;
const discoveryMs = 3_600_000;

/** Creates a client of the provider. It reads the provider's description at the first sign-in, and again after an hour. */
export function createIdentityProvider(settings: OidcSettings, fetchAllow: readonly string[]): IdentityProvider {
  const redirectUri = `${settings.publicUrl}/api/session/single-sign-on/callback`;
  const fetchProvider = createProviderFetch(fetchAllow);
  let discovered: { configuration: Promise<Configuration>; untilMs: number } | undefined;
  const discover = (): Promise<Configuration> => {
    if (discovered && discovered.untilMs > performance.now()) return discovered.configuration;
    const configuration = readConfiguration(settings, fetchProvider);
    const current = { configuration, untilMs: performance.now() + discoveryMs };
    discovered = current;
    configuration.catch(() => {
      if (discovered === current) discovered = undefined;
    });
    return configuration;
  };
  return {
    async start(next) {
      const configuration = await discover();
      const attempt = { state: randomState(), nonce: randomNonce(), verifier: randomPKCECodeVerifier(), next };
      const url = buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: settings.scope,
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
      });
      return { url, attempt };
    },
    async finish(search, attempt) {
      const configuration = await discover();
      const tokens = await authorizationCodeGrant(configuration, new URL(`${redirectUri}?${search}`), {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      });
      const signed = tokens.claims()!;
      const isComplete = readGroups(signed[settings.groupsClaim]) !== undefined;
      const hasMore = !isComplete && configuration.serverMetadata().userinfo_endpoint !== undefined;
      const claims = hasMore
        ? { ...signed, ...(await fetchUserInfo(configuration, tokens.access_token, signed.sub)) }
        : signed;
      return {
        issuer: signed.iss,
        subject: signed.sub,
        name: nameOf(claims),
        groups: readGroups(claims[settings.groupsClaim]) ?? [],
      };
    },
  };
}

/**
 * Reads the provider's description. ID tokens are verified with the public keys that it publishes (`jwks_uri`), by an algorithm that it lists:
 * tokens without a signature, or signed with a shared secret, are refused even if it lists those.
 */
async function readConfiguration(settings: OidcSettings, fetchProvider: CustomFetch): Promise<Configuration> {
  const { issuer, clientId, clientSecret } = settings;
  const isPlain = issuer.startsWith('http:');
  return discovery(new URL(issuer), clientId, undefined, chooseAuthentication(clientSecret), {
    [customFetch]: fetchProvider,
    timeout: timeoutSeconds,
    execute: [enableNonRepudiationChecks, ...(isPlain ? [allowInsecureRequests] : [])],
  });
}

/** Sends the secret in the way that the provider supports. Basic authentication is the standard's default. */
function chooseAuthentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, client, body, headers) => {
    const supported = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (supported.includes('client_secret_basic') ? basic : post)(server, client, body, headers);
  };
}

/** Returns a `fetch` under the rules of all outgoing requests: private hosts must be in `TOCSIN_FETCH_ALLOW`. */
function createProviderFetch(allow: readonly string[]): CustomFetch {
  const send = publicFetch(allow);
  return async (url, options) => {
    try {
      return await send(url, options as RequestInit);
    } catch (error) {
      if (!(error instanceof ExternalError)) throw error;
      throw new ProviderUnreachableError(error.message, { cause: error });
    }
  };
}

/** Returns the name under which a person is listed: the e-mail address unless the provider says that it is unverified, the user name, or the ID. */
function nameOf(claims: Record<string, unknown>): string {
  const candidates = [claims['email_verified'] === false ? undefined : claims['email'], claims['preferred_username']];
  const name = candidates.find((value) => typeof value === 'string' && value.trim() !== '');
  return String(name ?? claims['sub']).slice(0, 255);
}

/** Why somebody could not sign in. The sign-in page has a sentence for each. */
const problems = ['denied', 'expired', 'no_group', 'suspended', 'disabled', 'unavailable', 'failed'] as const;
type SignInProblem = (typeof problems)[number];

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
    if (error instanceof AppError && error.code === 'person_disabled')
      throw new SignInError('disabled', `${name} (${subject}) is disabled in ${organization}.`, error);
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

const name = 'tocsin_sign_in';
const lifeSeconds = 600;

const short = z.string().min(1).max(200);
const Attempt = z.strictObject({ state: short, nonce: short, verifier: short, next: z.string().max(2000) });

/**
 * A sign-in that a browser has started. `state` and `nonce` must come back from the provider, `verifier` is the secret of PKCE, and `next` is
 * the page of the console to open afterwards.
 */
export type Attempt = z.infer<typeof Attempt>;

/** Stores an attempt in the browser. SameSite=Lax, since the provider's page leads back here. */
export function setAttemptCookie(request: FastifyRequest, reply: FastifyReply, attempt: Attempt): void {
  const value = Buffer.from(JSON.stringify(attempt)).toString('base64url');
  setCookie(request, reply, { value, maxAge: lifeSeconds });
}

/** Returns the attempt stored in the browser, if there is one, and deletes it there, because an attempt can be used only once. */
export function takeAttemptCookie(request: FastifyRequest, reply: FastifyReply): Attempt | undefined {
  const value = parseCookie(request.headers.cookie ?? '')[name];
  if (value === undefined) return undefined;
  setCookie(request, reply, { value: '', maxAge: 0 });
  try {
    return Attempt.safeParse(JSON.parse(Buffer.from(value, 'base64url').toString())).data;
  } catch {
    return undefined;
  }
}

function setCookie(request: FastifyRequest, reply: FastifyReply, fields: { value: string; maxAge: number }): void {
  const path = `${request.server.basePath}/api/session/single-sign-on`;
  void reply.header(
    'set-cookie',
    stringifySetCookie({ name, path, httpOnly: true, sameSite: 'lax', secure: isHttps(request), ...fields }),
  );
}
