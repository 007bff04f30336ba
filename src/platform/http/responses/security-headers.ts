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
