import { httpStatusError, upstreamError } from '../siem-errors.ts';
import { sendSiemRequest, tryParseJson } from './siem-http.ts';

export type EntraApplication = {
  authority: string;
  tenantId: string;
  clientId: string;
  clientSecret: string;
  scope: string;
  allow: readonly string[];
};

type Grant = { access_token?: string; expires_in?: number; error?: string; error_description?: string };

const timeoutMs = 15_000;
/** A token is renewed five minutes before it expires, because a query may take that long. */
const renewBeforeMs = 5 * 60_000;

/**
 * Returns a function that fetches and caches an application's access token by the OAuth 2.0 client credentials flow
 * (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow). `renew` replaces a rejected token.
 */
export function createTokenSource(app: EntraApplication): (signal: AbortSignal, renew: boolean) => Promise<string> {
  let cached: { token: string; untilMs: number } | undefined;
  return async (signal, renew) => {
    if (cached && !renew && performance.now() < cached.untilMs) return cached.token;
    const { access_token: token, expires_in: seconds = 0 } = await fetchToken(app, signal);
    if (!token) throw upstreamError('unexpected_answer', 'The identity platform returned no token.');
    cached = { token, untilMs: performance.now() + seconds * 1000 - renewBeforeMs };
    return token;
  };
}

async function fetchToken(
  { authority, tenantId, clientId, clientSecret, scope, allow }: EntraApplication,
  signal: AbortSignal,
): Promise<Grant> {
  const body = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
    scope,
  });
  const server = { base: authority, headers: {}, allow };
  const response = await sendSiemRequest(server, { path: `/${tenantId}/oauth2/v2.0/token`, body, timeoutMs, signal });
  const grant = (tryParseJson(response.text) ?? {}) as Grant;
  if (response.status === 200) return grant;
  const message = grant.error_description?.split('\n')[0] ?? grant.error ?? '';
  if (response.status === 400 || response.status === 401)
    throw upstreamError('credentials_refused', `The identity platform rejected the application: ${message}`);
  throw httpStatusError(response.status, 'The identity platform', message);
}
