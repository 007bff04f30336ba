import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo,
  None,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
  type ClientAuth,
  type Configuration,
  type CustomFetch,
} from 'openid-client';
import { publicFetch } from '../../lib/outbound-http/public-fetch.ts';
import type { Attempt } from './attempt-cookie.ts';
import { readGroups, type OidcSettings } from './oidc-settings.ts';
import { ExternalError } from '../../lib/external-error.ts';

/** A request to the provider failed: it is down, its address is wrong, or the address is private and not allowed. */
export class ProviderUnreachableError extends Error {}

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
