import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Deps } from '../../app/deps.ts';
import { appError } from '../lib/errors.ts';
import type { Caller } from '../orgs/caller.ts';
import { createBuckets } from './token-buckets.ts';
import type { App } from './app-type.ts';

/** Failed keys per address: a burst, then this many a second. */
const failureBurst = 200;
const failuresPerSecond = 2;

/**
 * Finds the caller before anything of a request is judged, unknown routes and methods included; only open routes pass without.
 * Then the scope, then the rate limit of the key.
 */
export function guardWithKeys(app: App, { auth, config }: Pick<Deps, 'auth' | 'config'>): void {
  const failures = createBuckets({ ratePerSecond: failuresPerSecond, burst: failureBurst });
  const limit =
    config.rateLimit > 0
      ? createBuckets({ ratePerSecond: config.rateLimit, burst: Math.max(1, Math.ceil(config.rateLimit * 2)) })
      : undefined;
  app.decorateRequest('caller', null);
  app.addHook('onRequest', (request, reply, done) => {
    const { open, basic } = request.routeOptions.config;
    if (open || isPreflight(request, config.corsOrigins)) return done();
    const header = basic ? passwordAsKey(request.headers.authorization) : request.headers.authorization;
    const known = auth.known(header);
    // Of both kinds of hook the one that calls back is much the cheaper; the promise is for the few that ask the database.
    if (!known) return auth.find(header).then((caller) => admit(request, reply, caller));
    admit(request, reply, known);
    done();
  });
  function admit(request: FastifyRequest, reply: FastifyReply, caller: Caller | undefined): void {
    const { scope, basic } = request.routeOptions.config;
    if (!caller) {
      const { allowed, retryAfterS } = failures.take(request.ip);
      if (!allowed)
        throw appError('rate_limited', 'Too many failed keys from this address.', {
          headers: { 'retry-after': String(retryAfterS) },
        });
      throw appError('unauthorized', 'Send a valid API key as Authorization: Bearer <key>.', {
        headers: { 'www-authenticate': `${basic ? 'Basic' : 'Bearer'} realm="tocsin"` },
      });
    }
    request.caller = caller;
    if (limit) takeToken(limit, config.rateLimit, caller.keyId ?? '', reply);
    if (scope && !caller.scopes.has(scope)) throw appError('forbidden', `The key lacks the scope ${scope}.`);
  }
}

/** An Authorization header with the password of a Basic one (RFC 7617) in place of a key; whatever the user is called. */
function passwordAsKey(header: string | undefined): string | undefined {
  const [, credentials] = /^basic +([A-Za-z0-9+/=]{1,2000})$/i.exec(header ?? '') ?? [];
  const [, password] = /^[^:]*:(.*)$/s.exec(Buffer.from(credentials ?? '', 'base64').toString()) ?? [];
  return password === undefined ? header : `Bearer ${password}`;
}

/** Headers as in the IETF draft "RateLimit header fields for HTTP", version 10. */
function takeToken(limit: ReturnType<typeof createBuckets>, rate: number, key: string, reply: FastifyReply): void {
  const { allowed, remaining, retryAfterS } = limit.take(key);
  const burst = Math.max(1, Math.ceil(rate * 2));
  reply.header('ratelimit-policy', `"key";q=${burst};w=2`);
  reply.header('ratelimit', `"key";r=${remaining};t=${retryAfterS}`);
  if (!allowed)
    throw appError('rate_limited', 'This key makes more requests than the installation allows.', {
      headers: { 'retry-after': String(retryAfterS) },
    });
}

const isPreflight = (request: FastifyRequest, origins: string[]): boolean =>
  request.method === 'OPTIONS' &&
  request.headers['access-control-request-method'] !== undefined &&
  origins.includes(request.headers.origin ?? '');
