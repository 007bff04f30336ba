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
/** A token is not used in its last minutes: a query may take that long. */
const restMs = 5 * 60_000;

/**
 * The access token of an application by the OAuth 2.0 client credentials flow
 * (https://learn.microsoft.com/entra/identity-platform/v2-oauth2-client-creds-grant-flow), fetched when there is none and again before it ends;
 * `renew`: the one that is known was refused.
 */
export function createTokenSource(app: EntraApplication): (signal: AbortSignal, renew: boolean) => Promise<string> {
  let known: { token: string; until: number } | undefined;
  return async (signal, renew) => {
    if (known && !renew && performance.now() < known.until) return known.token;
    const { access_token: token, expires_in: seconds = 0 } = await fetchToken(app, signal);
    if (!token) throw upstreamError('unexpected_answer', 'The identity platform answered without a token.');
    known = { token, until: performance.now() + seconds * 1000 - restMs };
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
  const answer = await sendSiemRequest(server, { path: `/${tenantId}/oauth2/v2.0/token`, body, timeoutMs, signal });
  const grant = (tryParseJson(answer.text) ?? {}) as Grant;
  if (answer.status === 200) return grant;
  const told = grant.error_description?.split('\n')[0] ?? grant.error ?? '';
  if (answer.status === 400 || answer.status === 401)
    throw upstreamError('credentials_refused', `The identity platform refused the application: ${told}`);
  throw httpStatusError(answer.status, 'The identity platform', told);
}
