import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { appError, type AppError } from '../../lib/errors.ts';
import { toAppError } from './request-errors.ts';
import { requestIdHeader } from '../request-log.ts';
import type { App } from '../app-type.ts';

export const problemType = 'application/problem+json';

export const Stale = z
  .object({
    current: z
      .union([z.string(), z.number()])
      .nullable()
      .describe('The `If-Match` or `expectedRevision` of the record as it is now. Null if it no longer exists.'),
    changes: z
      .array(
        z.object({
          at: z.string().nullable(),
          keyId: z.string().nullable(),
          actor: z.string().nullable().describe('Who signed in. Null for a change with a key or by the service.'),
          action: z.string(),
          subject: z.string().nullable().describe('Which of several records changed, such as an entity.'),
          fields: z.array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() })),
        }),
      )
      .describe('Changes since the version that the request is based on, latest first, at most 20.'),
  })
  .describe('What changed since the version that the request is based on.')
  .meta({ id: 'Stale' });

export const Alternative = z
  .object({
    kind: z.string(),
    id: z.string(),
    name: z.string(),
    description: z.string(),
    missing: z.string().nullable().describe('The missing dataset or fields. Null if nothing is missing.'),
  })
  .meta({ id: 'Alternative' });

/** The body of every error response (RFC 9457). */
export const Problem = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string().describe('Stable error code for clients to branch on.'),
    requestId: z.string(),
    errors: z
      .array(z.object({ pointer: z.string(), code: z.string(), detail: z.string() }))
      .optional()
      .describe('Validation errors. `pointer` is a JSON pointer into the body, or `query/…`, `path/…` or `header/…`.'),
    quota: z
      .object({ name: z.string(), limit: z.number(), used: z.number(), resetsAt: z.string().nullable() })
      .optional()
      .describe('The quota of the organization that is used up. `resetsAt` is null for what is counted as of now.'),
    stale: Stale.optional(),
    alternatives: z
      .array(Alternative)
      .optional()
      .describe('What comes closest to the request, best first. `missing` says what it needs first.'),
  })
  .meta({ id: 'Problem' });

/** The body of an error response with its media type. */
export type RenderedError = { body: string | Buffer; type: string };

/** Converts any error of a request to an `application/problem+json` response without internal details. */
export const sendProblem = createErrorHandler((error, request) => ({
  body: problemText(error, pathOf(request), request.id),
  type: request.routeOptions.config?.errorType ?? problemType,
}));

/** Returns an error handler that logs errors as `sendProblem` does and answers in the form of another protocol. */
export function createErrorHandler(render: (error: AppError, request: FastifyRequest) => RenderedError) {
  return (error: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const found = toAppError(
      error as FastifyError,
      request.query as Record<string, unknown>,
      request.routeOptions.bodyLimit,
    );
    const known = isClientGone(error, found, request)
      ? appError('client_closed_request', 'The client closed the connection.')
      : found;
    const line = { method: request.method, path: pathOf(request), status: known.status, code: known.code };
    if (known.status >= 500) request.log.error({ ...line, err: error }, 'request failed');
    else request.log.info(line, 'request refused');
    const { body, type } = render(known, request);
    void reply
      .code(known.status)
      .headers({ ...securityHeaders, [requestIdHeader]: request.id, ...known.headers })
      .header('content-type', type);
    // The route's own serializer would reduce the problem to the fields of its success response. Bytes have none.
    if (typeof body === 'string') void reply.serializer(String);
    void reply.send(body);
  };
}

const pathOf = ({ url }: FastifyRequest): string => url.split('?')[0]!;

/** Returns the body of an error response. */
export function problemText(error: AppError, instance: string, requestId: string): string {
  return JSON.stringify({
    type: `urn:tocsin:problem:${error.code}`,
    title: titleOf(error),
    status: error.status,
    detail: error.message,
    instance,
    code: error.code,
    requestId,
    ...(error.errors ? { errors: error.errors } : {}),
    ...(error.quota ? { quota: error.quota } : {}),
    ...(error.stale ? { stale: error.stale } : {}),
    ...(error.alternatives ? { alternatives: error.alternatives } : {}),
  });
}

/**
 * Returns whether an error only says that the client closed the connection: before its request arrived, while the response was sent, or so
 * that its work was cancelled. A cancelled query is `unavailable`. Other failures count even if nobody waits for the response.
 */
function isClientGone(error: unknown, { code: outcome }: AppError, { raw }: FastifyRequest): boolean {
  if (!raw.socket.destroyed) return false;
  const { code, message, name } = error as NodeJS.ErrnoException;
  const isAbort =
    (code === 'ECONNRESET' && message === 'aborted') || code === 'ERR_STREAM_PREMATURE_CLOSE' || code === 'EPIPE';
  return isAbort || name === 'AbortError' || outcome === 'unavailable';
}

function titleOf(error: AppError): string {
  const words = error.code.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}

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
