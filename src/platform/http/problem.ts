import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { AppError, appError, describeIssue, type FieldError } from '../lib/errors.ts';

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
  })
  .meta({ id: 'Problem' });

type ValidationEntry = { keyword?: string; instancePath?: string; message?: string; params?: { keys?: string[] } };

/** Converts any error of a request to an `application/problem+json` response without internal details. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const known = toAppError(error as FastifyError);
  if (known.status >= 500) request.log.error({ err: error }, 'request failed');
  const body = {
    type: `urn:tocsin:problem:${known.code}`,
    title: titleOf(known),
    status: known.status,
    detail: known.message,
    instance: request.url.split('?')[0],
    code: known.code,
    requestId: request.id,
    ...(known.errors ? { errors: known.errors } : {}),
  };
  // The route's own serializer would reduce the problem to the fields of its success response.
  void reply
    .code(known.status)
    .headers(known.headers)
    .header('content-type', request.routeOptions.config?.errorType ?? 'application/problem+json')
    .serializer(String)
    .send(JSON.stringify(body));
}

function titleOf(error: AppError): string {
  const words = error.code.replaceAll('_', ' ');
  return words[0]!.toUpperCase() + words.slice(1);
}

function toAppError(error: FastifyError & { validation?: ValidationEntry[]; validationContext?: string }): AppError {
  if (error instanceof AppError) return error;
  if (error.validation) return validationError(error.validation, error.validationContext ?? 'body');
  switch (error.code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return appError('payload_too_large', 'The body is larger than this route accepts.');
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return appError('unsupported_media_type', 'Send the body as application/json.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return appError('malformed_json', 'The request is malformed.');
    // A conflict that repeating did not resolve, a lock that was not released in time, and a statement that took too long.
    case '40001':
    case '40P01':
    case '55P03':
    case '57014':
      return appError('unavailable', 'The database is busy with other changes. Try again.', {
        headers: { 'retry-after': '2' },
      });
    case '53300':
    case 'ECONNREFUSED':
    case 'ECONNRESET':
    case 'EPIPE':
    case '57P01':
    case '57P02':
    case '57P03':
      return databaseUnavailable();
  }
  // The socket file of the database is missing.
  if (error.code === 'ENOENT' && (error as NodeJS.ErrnoException).syscall === 'connect') return databaseUnavailable();
  // The driver sets no code on these errors.
  if (
    /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
      error.message,
    )
  )
    return databaseUnavailable();
  if (error.statusCode === 400) return appError('malformed_json', 'The request is malformed.');
  return appError('internal', 'The request failed inside the service. See the service log for this request ID.');
}

const databaseUnavailable = (): AppError =>
  appError('unavailable', 'The database does not respond. Try again.', { headers: { 'retry-after': '2' } });

function validationError(entries: ValidationEntry[], context: string): AppError {
  const errors = entries.flatMap((entry) => fieldErrors(entry, context)).slice(0, 100);
  const first = errors[0];
  return appError(
    'validation_failed',
    first ? `${first.pointer || 'body'}: ${first.detail}` : 'The request is not valid.',
    { errors },
  );
}

function fieldErrors(entry: ValidationEntry, context: string): FieldError[] {
  const path = (entry.instancePath ?? '').split('/').filter(Boolean);
  if (entry.keyword === 'unrecognized_keys' && entry.params?.keys) {
    return entry.params.keys.map((key) => ({
      pointer: pointerOf(context, [...path, escapePointer(key)]),
      code: 'unknown_field',
      detail: `${key} is not a field of this request.`,
    }));
  }
  if (context === 'querystring' && entry.message?.endsWith('received array')) {
    return [{ pointer: pointerOf(context, path), code: 'repeated', detail: 'must not be repeated' }];
  }
  const detail = describeIssue(entry.message ?? 'is not valid');
  return [{ pointer: pointerOf(context, path), code: entry.keyword ?? 'invalid', detail }];
}

const prefixes: Record<string, string> = { body: '', querystring: 'query', params: 'path', headers: 'header' };

function pointerOf(context: string, path: string[]): string {
  return [prefixes[context] ?? context, ...path].join('/');
}

const escapePointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');
