import type { App } from '../app-type.ts';

/** Headers of every response. Responses are data, so a browser must neither guess their type, run them, frame them nor pass on their address. */
export const securityHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'x-frame-options': 'DENY',
  'referrer-policy': 'no-referrer',
} as const;

export function registerSecurityHeaders(app: App): void {
  app.addHook('onRequest', (_request, reply, done) => {
    reply.headers(securityHeaders);
    done();
  });
  // A browser stores nothing that a session opened, so that nobody reads it there after signing out, and nobody stores a credential.
  app.addHook('onSend', (request, reply, _payload, done) => {
    if (request.caller?.sessionId !== undefined || request.routeOptions.config.secretField !== undefined)
      reply.header('cache-control', 'no-store');
    done();
  });
}

/** Allows pages of the listed origins to call the API. Adds nothing if no origin is listed. */
export function registerCors(app: App, origins: string[]): void {
  if (origins.length === 0) return;
  app.addHook('onRequest', async (request, reply) => {
    const origin = request.headers.origin;
    reply.header('vary', 'Origin');
    if (!origin || !origins.includes(origin)) return;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', 'ETag, RateLimit, RateLimit-Policy, Retry-After');
    if (request.method !== 'OPTIONS' || !request.headers['access-control-request-method']) return;
    reply.header('access-control-allow-methods', 'GET, HEAD, POST, PUT, PATCH, DELETE');
    reply.header(
      'access-control-allow-headers',
      'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Mcp-Protocol-Version',
    );
    reply.header('access-control-max-age', '600');
    await reply.code(204).send();
  });
}
