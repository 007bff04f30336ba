import type { FastifyError } from 'fastify';
import { describeIssue } from '../../lib/schema-parts.ts';
import { AppError, appError, unavailableError, type ErrorCode, type FieldError } from '../../lib/errors.ts';
import { escapePointer } from '../../lib/json/parse-in-slices.ts';

type ValidationEntry = { keyword?: string; instancePath?: string; message?: string; params?: { keys?: string[] } };

/** The values of a query string by parameter. A repeated parameter has an array. */
type QueryValues = Record<string, unknown>;

type RequestError = FastifyError & { validation?: ValidationEntry[]; validationContext?: string };

/**
 * Converts any error of a request to an error of the closed set. Errors that a plugin marks with a client status keep it. `query` is the query
 * string of the request, from which repeated parameters are recognized, and `bodyBytesMax` the limit of the route.
 */
export function toAppError(error: RequestError, query: QueryValues = {}, bodyBytesMax?: number): AppError {
  if (error instanceof AppError) return error;
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE' && bodyBytesMax !== undefined)
    return appError(
      'payload_too_large',
      `The body has more than ${bodyBytesMax.toLocaleString('en')} bytes, the most that this route accepts.`,
    );
  if (error.validation) return validationError(error.validation, error.validationContext ?? 'body', query);
  return byCode(error) ?? byStatus(error) ?? internalError();
}

function byCode(error: RequestError): AppError | undefined {
  switch (error.code) {
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
    case 'FST_ERR_CTP_INVALID_TYPE':
      return appError('unsupported_media_type', 'Send the body as application/json.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return appError('malformed_request', 'The request is malformed.');
    case 'ENOSPC':
    case 'EDQUOT':
    // PostgreSQL: disk_full.
    case '53100':
      return storageFull();
    // A conflict that repeating did not resolve, a lock that was not released in time, and a statement that took too long.
    case '40001':
    case '40P01':
    case '55P03':
    case '57014':
      return unavailableError('The database is busy with other changes. Try again.', 2);
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
  // The engine's errors and PostgreSQL's other ones contain the text of the operating system.
  if (/no space left on device|disk quota exceeded/i.test(error.message)) return storageFull();
  // The driver sets no code on these errors.
  if (
    /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect)/.test(
      error.message,
    )
  )
    return databaseUnavailable();
  return undefined;
}

const messages: Partial<Record<number, [ErrorCode, string]>> = {
  400: ['malformed_json', 'The request is malformed.'],
  // A plugin that serves files refuses paths outside its folder. Nothing exists there for the caller.
  403: ['not_found', 'This address does not exist.'],
  404: ['not_found', 'This address does not exist.'],
  408: ['request_timeout', 'The request did not arrive in time.'],
  412: ['precondition_failed', 'A condition in the request headers is not met.'],
  413: ['payload_too_large', 'The body is larger than this route accepts.'],
  414: ['uri_too_long', 'The address is too long.'],
  415: ['unsupported_media_type', 'The media type or the Content-Encoding of the body is not supported.'],
  416: ['range_not_satisfiable', 'The Range header lies outside the file.'],
  417: ['expectation_failed', 'The Expect header is not supported.'],
  431: ['headers_too_large', 'The request headers are too large.'],
};

function byStatus({ statusCode }: RequestError): AppError | undefined {
  if (statusCode === undefined || statusCode < 400 || statusCode >= 500) return undefined;
  const [code, detail] = messages[statusCode] ?? messages[400]!;
  return appError(code, detail);
}

const internalError = (): AppError =>
  appError('internal', 'The request failed inside the service. See the service log for this request ID.');

const databaseUnavailable = (): AppError => unavailableError('The database does not respond. Try again.', 2);

const storageFull = (): AppError =>
  appError('insufficient_storage', 'The disk of the service is full. Nothing was stored. Try again later.', {
    headers: { 'retry-after': '60' },
  });

function validationError(entries: ValidationEntry[], context: string, query: QueryValues): AppError {
  const errors = entries.flatMap((entry) => fieldErrors(entry, context, query)).slice(0, 100);
  const first = errors[0];
  return appError(
    'validation_failed',
    first ? `${first.pointer || 'body'}: ${first.detail}` : 'The request is not valid.',
    { errors },
  );
}

function fieldErrors(entry: ValidationEntry, context: string, query: QueryValues): FieldError[] {
  const path = (entry.instancePath ?? '').split('/').filter(Boolean);
  if (entry.keyword === 'unrecognized_keys' && entry.params?.keys) {
    return entry.params.keys.map((key) => ({
      pointer: pointerOf(context, [...path, escapePointer(key)]),
      code: 'unknown_field',
      detail: `${key} is not a field of this request.`,
    }));
  }
  if (context === 'querystring' && Array.isArray(query[path[0] ?? ''])) {
    return [{ pointer: pointerOf(context, path), code: 'repeated', detail: 'must not be repeated' }];
  }
  const detail = describeIssue(entry.message ?? 'is not valid');
  return [{ pointer: pointerOf(context, path), code: entry.keyword ?? 'invalid', detail }];
}

const prefixes: Record<string, string> = { body: '', querystring: 'query', params: 'path', headers: 'header' };

function pointerOf(context: string, path: string[]): string {
  return [prefixes[context] ?? context, ...path].join('/');
}
