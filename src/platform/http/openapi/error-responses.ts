import type { FastifyContextConfig } from 'fastify';
import { problemType } from '../responses/problem.ts';
import type { Operation } from '../app-type.ts';

/** Every error of the API by status. The key is also the name of the shared response. */
const errors = {
  BadRequest: [400, 'The request is not valid. `errors` lists the fields and parameters.'],
  Unauthorized: [401, 'The API key is missing, unknown, expired or revoked.'],
  Forbidden: [403, 'The key lacks the scope of the operation.'],
  NotFound: [404, 'The record does not exist in the organization of the key.'],
  NotAcceptable: [406, 'The Accept header allows no format of the response.'],
  Conflict: [
    409,
    'The record is in a state that does not allow this, or the first request with this key is in flight.',
  ],
  PreconditionFailed: [412, 'The record changed since the version in If-Match. `stale` lists what changed.'],
  PayloadTooLarge: [413, 'The body is larger than the operation accepts.'],
  UnsupportedMediaType: [415, 'The media type or encoding of the body is not supported.'],
  Unprocessable: [422, 'A check failed, or the Idempotency-Key was used with another request.'],
  TooManyRequests: [429, 'Too many requests. Retry-After says when to try again.'],
  Unavailable: [503, 'The service or what it needs is not available. Retry-After says when to try again.'],
  InsufficientStorage: [507, 'The disk of the service is full, or full up to its reserve. Nothing was stored.'],
  ClientError: ['4XX', 'The request is malformed.'],
  Error: ['default', 'Any other error, with a stable code.'],
} as const satisfies Record<string, [number | string, string]>;
type ErrorName = keyof typeof errors;

const retryAfter = {
  'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer', minimum: 0 } },
};
const withRetryAfter: ErrorName[] = ['Conflict', 'TooManyRequests', 'Unavailable', 'InsufficientStorage'];

/** Returns the error responses that operations share. */
export const commonResponses = (): Record<string, unknown> =>
  Object.fromEntries((Object.keys(errors) as ErrorName[]).map((name) => [name, errorResponse(name, problemType)]));

const errorResponse = (name: ErrorName, type: string) => ({
  description: errors[name][1],
  ...(withRetryAfter.includes(name) && { headers: retryAfter }),
  content: { [type]: { schema: { $ref: '#/components/schemas/Problem' } } },
});

export type ErrorFacts = {
  method: string;
  config: FastifyContextConfig;
  hasPathParameters: boolean;
  hasQuery: boolean;
  hasBody: boolean;
  acceptsIfMatch: boolean;
};

/** Returns the error responses of an operation by status, from what the operation reads and who may call it. */
export function errorResponsesOf(facts: ErrorFacts): Operation['responses'] {
  const { method, config, hasPathParameters, hasQuery, hasBody, acceptsIfMatch } = facts;
  const hasKey = !config.isPublic;
  const isChange = method !== 'GET';
  const cases: [ErrorName, boolean][] = [
    ['BadRequest', hasBody || hasQuery || hasPathParameters || (hasKey && !config.ignoresUnknownQuery)],
    ['Unauthorized', hasKey || isChange],
    ['Forbidden', hasKey && (config.scope !== undefined || config.isAdmin === true || isChange)],
    ['NotFound', hasPathParameters],
    ['NotAcceptable', config.errorType !== undefined],
    ['Conflict', hasKey && ['POST', 'PUT', 'PATCH'].includes(method)],
    ['PreconditionFailed', acceptsIfMatch],
    ['PayloadTooLarge', hasBody],
    ['UnsupportedMediaType', hasBody],
    ['Unprocessable', hasKey && (method === 'POST' || (method === 'PUT' && hasQuery))],
    ['TooManyRequests', hasKey || isChange],
    ['Unavailable', true],
    ['InsufficientStorage', isChange],
    ['ClientError', !hasKey && !isChange],
    ['Error', true],
  ];
  return Object.fromEntries(
    cases
      .filter(([, applies]) => applies)
      .map(([name]) => [
        errors[name][0],
        // Another media type needs responses of its own.
        config.errorType ? errorResponse(name, config.errorType) : { $ref: `#/components/responses/${name}` },
      ]),
  );
}
