import type { FastifyReply, FastifyRequest, FastifyContextConfig } from 'fastify';
import { LRUCache } from 'lru-cache';
import { appError, type AppError } from '../lib/errors.ts';
import type { KeyAuthenticator } from './authenticate.ts';
import { equalHashes, hashKey } from './credentials.ts';
import type { Caller } from '../http/caller.ts';
import { suspendedError } from './organization.ts';
import { readSessionCookie, type SessionAuthenticator } from './sessions/session-authenticator.ts';
import type { App } from '../http/app-type.ts';

type AuthenticateRequestsDeps = {
  auth: KeyAuthenticator;
  sessions: SessionAuthenticator;
  throttleFailure: (request: FastifyRequest) => void;
  config: { rateLimit: number; corsOrigins: string[]; adminKey?: string | undefined };
};

/** Failed authentications per client address: a burst, then a rate. */
const failureBurst = 200;
const failuresPerSecond = 2;

/** Returns a function that counts a failed authentication of an address, and throws 429 if there were too many. */
export function createFailureThrottle(): (request: FastifyRequest) => void {
  const takeFailure = createTokenBuckets(failuresPerSecond, failureBurst);
  return ({ ip }) => {
    const { allowed, retryAfterS } = takeFailure(ip);
    if (!allowed) throw rateLimitedError('Too many failed authentications from this address.', retryAfterS);
  };
}

/** The limits that apply to admitted requests. `takeToken` is undefined if keys have no rate limit. */
type RequestLimits = {
  throttleFailure: AuthenticateRequestsDeps['throttleFailure'];
  burst: number;
  takeToken: ReturnType<typeof createTokenBuckets> | undefined;
  takeOfOrganization: ReturnType<typeof createSizedBuckets>;
};

/**
 * Authenticates every request before it is processed, including those to unknown routes and methods. Only public routes are exempt.
 * Then applies the key's rate limit and checks the route's scope. A request without an Authorization header may carry a session cookie.
 */
export function authenticateRequests(app: App, deps: AuthenticateRequestsDeps): void {
  const { auth, config } = deps;
  const limits = createLimits(deps);
  const adminHash = config.adminKey === undefined ? undefined : hashKey(config.adminKey);
  app.decorateRequest('caller', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { isPublic, isAdmin } = request.routeOptions.config;
    if (isPublic || isPreflight(request, config.corsOrigins)) return done();
    const header = toBearerHeader(request.headers.authorization, request.routeOptions.config);
    if (isAdmin) return admitAdministrator(deps, adminHash, request, header);
    if (!header && request.headers.cookie !== undefined) return admitSession(deps, limits, request, reply);
    const cached = auth.findCachedCaller(header);
    // A hook with a callback is much cheaper than one with a promise, so only database lookups return a promise.
    if (!cached) return auth.findCaller(header).then((caller) => admit(limits, request, reply, caller));
    admit(limits, request, reply, cached);
    done();
  });
}

function createLimits({ throttleFailure, config }: AuthenticateRequestsDeps): RequestLimits {
  const burst = Math.max(1, Math.ceil(config.rateLimit * 2));
  return {
    throttleFailure,
    burst,
    takeToken: config.rateLimit > 0 ? createTokenBuckets(config.rateLimit, burst) : undefined,
    takeOfOrganization: createSizedBuckets(),
  };
}

async function admitAdministrator(
  { auth, throttleFailure }: AuthenticateRequestsDeps,
  adminHash: ReturnType<typeof hashKey> | undefined,
  request: FastifyRequest,
  header: string | undefined,
): Promise<void> {
  const sent = header?.replace(/^Bearer /i, '') ?? '';
  if (adminHash && equalHashes(hashKey(sent), adminHash)) return;
  if (await auth.findCaller(header))
    throw appError(
      'forbidden',
      'This route needs the key of the installation (TOCSIN_ADMIN_KEY), not of an organization.',
    );
  throttleFailure(request);
  throw appError(
    'unauthorized',
    'Send the key of the installation (TOCSIN_ADMIN_KEY) as Authorization: Bearer <key>.',
    { headers: { 'www-authenticate': 'Bearer realm="tocsin"' } },
  );
}

async function admitSession(
  { sessions }: AuthenticateRequestsDeps,
  limits: RequestLimits,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  const caller = await sessions.findCaller(readSessionCookie(request));
  if (caller) requireOwnPage(request);
  admit(limits, request, reply, caller);
}

/** Sets the caller of a request. Throws if it is unknown or suspended, exceeds a limit, or lacks the scope of the route. */
function admit(
  { throttleFailure, burst, takeToken, takeOfOrganization }: RequestLimits,
  request: FastifyRequest,
  reply: FastifyReply,
  caller: Caller | undefined,
): void {
  const { scope, acceptsBasicAuth, acceptsShipperAuth } = request.routeOptions.config;
  if (!caller) {
    throttleFailure(request);
    const scheme = acceptsBasicAuth || acceptsShipperAuth ? 'Basic' : 'Bearer';
    throw appError('unauthorized', 'Send a valid API key as Authorization: Bearer <key>.', {
      headers: { 'www-authenticate': `${scheme} realm="tocsin"` },
    });
  }
  if (caller.isSuspended) throw suspendedError();
  request.caller = caller;
  if (caller.requestsPerMinute) applyRequestQuota(takeOfOrganization, caller, caller.requestsPerMinute, reply);
  if (takeToken) applyRateLimit(takeToken(caller.keyId ?? caller.sessionId ?? ''), burst, reply);
  if (scope && !caller.scopes.has(scope)) throw appError('forbidden', `The key lacks the scope ${scope}.`);
}

/**
 * Refuses changes by another site's page that sends the browser's session cookie along. The console's own header cannot be sent across
 * sites without a preflight, which only `TOCSIN_CORS_ORIGINS` allow, and never with cookies. SameSite=Strict is the first line of defense.
 */
function requireOwnPage({ method, headers }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return;
  const site = headers['sec-fetch-site'];
  if (headers['x-tocsin-console'] === undefined || (site !== undefined && site !== 'same-origin'))
    throw appError(
      'forbidden',
      'A change with a session needs the header X-Tocsin-Console and must come from the console.',
    );
}

/** Applies the quota of requests of the organization, which may be sent in one burst. */
function applyRequestQuota(
  take: ReturnType<typeof createSizedBuckets>,
  { orgId }: Caller,
  perMinute: number,
  reply: FastifyReply,
): void {
  const { allowed, remaining, retryAfterS } = take(orgId, { ratePerSecond: perMinute / 60, burst: perMinute });
  reply.header('ratelimit-policy', `"organization";q=${perMinute};w=60`);
  reply.header('ratelimit', `"organization";r=${remaining};t=${retryAfterS}`);
  if (!allowed)
    throw appError(
      'quota_exceeded',
      `The organization exceeds its quota of ${perMinute} requests per minute. Retry after the seconds in the Retry-After header.`,
      {
        headers: { 'retry-after': String(retryAfterS) },
        quota: { name: 'requestsPerMinute', limit: perMinute, used: perMinute, resetsAt: null },
      },
    );
}

/** Sets the headers of the IETF draft "RateLimit header fields for HTTP", version 10. Throws 429 if the request is not allowed. */
function applyRateLimit({ allowed, remaining, retryAfterS }: TokenResult, burst: number, reply: FastifyReply): void {
  reply.header('ratelimit-policy', `"key";q=${burst};w=2`);
  reply.header('ratelimit', `"key";r=${remaining};t=${retryAfterS}`);
  if (!allowed) throw rateLimitedError('This key exceeds the rate limit.', retryAfterS);
}

const rateLimitedError = (problem: string, retryAfterS: number): AppError =>
  appError('rate_limited', `${problem} Retry after the seconds in the Retry-After header.`, {
    headers: { 'retry-after': String(retryAfterS) },
  });

const isPreflight = (request: FastifyRequest, origins: string[]): boolean =>
  request.method === 'OPTIONS' &&
  request.headers['access-control-request-method'] !== undefined &&
  origins.includes(request.headers.origin ?? '');

/**
 * Converts an Authorization header to a Bearer header, if the route accepts its scheme: Basic (RFC 7617) with the key as password,
 * Elasticsearch's `ApiKey` with the key after the colon of the decoded text, or the key itself, and `Splunk` with the key as token.
 */
export function toBearerHeader(
  header: string | undefined,
  { acceptsBasicAuth, acceptsShipperAuth }: Pick<FastifyContextConfig, 'acceptsBasicAuth' | 'acceptsShipperAuth'>,
): string | undefined {
  const [, scheme = '', credentials = ''] = /^(basic|apikey|splunk) +(\S{1,2000})$/i.exec(header ?? '') ?? [];
  const key = readKey(scheme.toLowerCase(), credentials);
  const isAccepted = acceptsShipperAuth || (acceptsBasicAuth && scheme.toLowerCase() === 'basic');
  return key !== undefined && isAccepted ? `Bearer ${key}` : header;
}

function readKey(scheme: string, credentials: string): string | undefined {
  if (scheme === 'splunk') return credentials;
  const decoded = Buffer.from(credentials, 'base64');
  const [, afterColon] = /^[^:]*:(.*)$/s.exec(decoded.toString()) ?? [];
  if (scheme === 'basic') return afterColon;
  if (scheme !== 'apikey') return undefined;
  // Characters of a key can be read as base64 as well, and the result may contain a colon.
  const isEncoded = decoded.toString('base64') === credentials && /^[ -~]+$/.test(decoded.toString());
  return isEncoded && afterColon !== undefined ? afterColon : credentials;
}

type TokenResult = { allowed: boolean; remaining: number; retryAfterS: number };

const namesMax = 50_000;

/** A bucket is filled at a rate up to its capacity, the burst. */
type BucketSize = { ratePerSecond: number; burst: number };

/** Returns a function that takes a token from the in-memory bucket of a name. Of more than 50,000 names, the least recently used is forgotten. */
function createTokenBuckets(ratePerSecond: number, burst: number): (name: string) => TokenResult {
  const take = createSizedBuckets();
  return (name) => take(name, { ratePerSecond, burst });
}

/** Like `createTokenBuckets`, for buckets that differ in size. */
function createSizedBuckets(): (name: string, size: BucketSize) => TokenResult {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max: namesMax });
  return (name, { ratePerSecond, burst }) => {
    const at = performance.now();
    const previous = buckets.get(name);
    const tokens = previous ? Math.min(burst, previous.tokens + ((at - previous.at) / 1000) * ratePerSecond) : burst;
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    buckets.set(name, { tokens: left, at });
    const retryAfterS = left >= 1 ? 0 : Math.max(1, Math.ceil((1 - left) / ratePerSecond));
    return { allowed, remaining: Math.floor(left), retryAfterS };
  };
}
