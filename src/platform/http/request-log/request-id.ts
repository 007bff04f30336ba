import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { App } from '../app-type.ts';

export const requestIdHeader = 'x-request-id';
/** The request IDs accepted from a proxy or client. They are safe in log lines and headers without escaping. */
const accepted = /^[\w.:-]{1,100}$/;

/** Returns the ID that the caller sent, or a new one. */
export function readRequestId({ headers }: Pick<IncomingMessage, 'headers'>): string {
  const sent = headers[requestIdHeader];
  return typeof sent === 'string' && accepted.test(sent) ? sent : randomUUID();
}

/** Returns the ID of the request with every response. The log lines of the request carry it as `requestId`. */
export function registerRequestId(app: App): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header(requestIdHeader, request.id);
    done();
  });
}
