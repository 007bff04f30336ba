import type { App } from '../app-type.ts';

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
    reply.header('access-control-allow-methods', 'GET, HEAD, POST, PUT, DELETE');
    reply.header(
      'access-control-allow-headers',
      'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Mcp-Protocol-Version',
    );
    reply.header('access-control-max-age', '600');
    await reply.code(204).send();
  });
}
