import type { FastifyBaseLogger, FastifyInstance, FastifyRequest, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { appError } from '../lib/errors.ts';
import type { Caller, Scope } from '../orgs/caller.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** No key is asked for. */
    open?: boolean;
    /** The scope a key needs; every route that is not open has one. */
    scope?: Scope;
    /** A key may come as the password of Basic authentication: public clients know nothing else. */
    basic?: boolean;
    /** The field of the answer that holds a secret: a replay by Idempotency-Key has null there. */
    secretField?: string;
    /** The media type of errors, where it is not `application/problem+json`. */
    errorType?: string;
    /** The route takes no body; one that is sent is ignored. */
    noBody?: boolean;
    /** The route takes a body that may be missing; it then counts as `{}`. */
    bodyOptional?: boolean;
  }
  interface FastifyRequest {
    caller: Caller | null;
  }
}

export type App = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

/** The caller that the keyed scope found. A route that is open and asks for one fails closed. */
export function callerOf(request: FastifyRequest): Caller {
  if (!request.caller) throw appError('unauthorized', 'This route needs an API key.');
  return request.caller;
}
