import type { FastifyReply, FastifyRequest } from 'fastify';
import { appError, type AppError } from '../lib/errors.ts';
import type { KeyAuthenticator } from '../orgs/authenticate.ts';
import type { Caller } from '../orgs/caller.ts';
import { createTokenBuckets, type TokenResult } from './token-buckets.ts';
import type { App } from './app-type.ts';

type AuthenticateRequestsDeps = { auth: KeyAuthenticator; config: { rateLimit: number; corsOrigins: string[] } };

/** Failed authentications per client address: a burst, then a rate. */
const failureBurst = 200;
const failuresPerSecond = 2;

/**
 * Authenticates every request before it is processed, including those to unknown routes and methods. Only public routes are exempt.
 * Then applies the key's rate limit and checks the route's scope.
 */
export function authenticateRequests(app: App, { auth, config }: AuthenticateRequestsDeps): void {
  const takeFailure = createTokenBuckets(failuresPerSecond, failureBurst);
  const burst = Math.max(1, Math.ceil(config.rateLimit * 2));
  const takeToken = config.rateLimit > 0 ? createTokenBuckets(config.rateLimit, burst) : undefined;
  app.decorateRequest('caller', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { isPublic, acceptsBasicAuth } = request.routeOptions.config;
    if (isPublic || isPreflight(request, config.corsOrigins)) return done();
    const header = acceptsBasicAuth ? bearerFromBasic(request.headers.authorization) : request.headers.authorization;
    const cached = auth.findCachedCaller(header);
    // A hook with a callback is much cheaper than one with a promise, so only database lookups return a promise.
    if (!cached) return auth.findCaller(header).then((caller) => admit(request, reply, caller));
    admit(request, reply, cached);
    done();
  });
  function admit(request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): void {
    const { scope, acceptsBasicAuth } = request.routeOptions.config;
    if (!caller) {
      const { allowed, retryAfterS } = takeFailure(request.ip);
      if (!allowed) throw rateLimitedError('Too many failed authentications from this address.', retryAfterS);
      throw appError('unauthorized', 'Send a valid API key as Authorization: Bearer <key>.', {
        headers: { 'www-authenticate': `${acceptsBasicAuth ? 'Basic' : 'Bearer'} realm="tocsin"` },
      });
    }
    request.caller = caller;
    if (takeToken) applyRateLimit(takeToken(caller.keyId ?? ''), burst, reply);
    if (scope && !caller.scopes.has(scope)) throw appError('forbidden', `The key lacks the scope ${scope}.`);
  }
}

/** Converts a Basic Authorization header (RFC 7617) to a Bearer header with its password as the key. The user name is ignored. */
function bearerFromBasic(header: string | undefined): string | undefined {
  const [, credentials] = /^basic +([A-Za-z0-9+/=]{1,2000})$/i.exec(header ?? '') ?? [];
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials ?? '', 'base64').toString()) ?? [];
  return password === undefined ? header : `Bearer ${password}`;
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
