import { SiemError } from './connector.ts';
import { appError } from '../../platform/lib/errors.ts';

const textMax = 500;

/**
 * The query uses a column that the engine does not know. It depends on the data: many engines learn their columns from events, and pipelines add
 * and remove those of the others.
 */
export class UnknownColumnError extends SiemError {
  readonly column: string;
  constructor(column: string) {
    const message = `No column is named ${column}`;
    super({ kind: 'unknown_column', blame: 'author', retryable: false, dependsOnData: true, message });
    this.column = column;
  }
}

/**
 * Creates an error that the author of the query must fix and that no event can cause, such as a syntax error. Three slots in a row with such a
 * failure disable a detection. Errors that an adapter cannot distinguish are not among them, see `dataDependentError`.
 */
export function authorError(kind: string, message: string): SiemError {
  return new SiemError({ kind, blame: 'author', retryable: false, message: message.slice(0, textMax) });
}

/**
 * Like `authorError`, for a failure that may depend on the events or on what has become of their fields: any but a mistake in the text of the
 * query alone. It never disables a detection.
 */
export function dataDependentError(kind: string, message: string): SiemError {
  const { failure } = authorError(kind, message);
  return new SiemError({ ...failure, dependsOnData: true });
}

/** Creates an error about a value in the logs that made a correct query fail. */
export function dataError(message: string): SiemError {
  return new SiemError({ kind: 'data_error', blame: 'data', retryable: false, message: message.slice(0, textMax) });
}

/** Creates an error that the operator of the SIEM must fix, or that may pass without intervention if `retryable`. */
export function upstreamError(kind: string, message: string, retryable = false): SiemError {
  return new SiemError({ kind, blame: 'upstream', retryable, message: message.slice(0, textMax) });
}

/** The queried index does not exist yet: nothing was ever written to it. */
export class UnknownIndexError extends UnknownColumnError {}

/** The response exceeds the size limit. */
export class ResponseTooLargeError extends SiemError {
  constructor() {
    const message = 'The response is larger than 128 MiB. Return fewer columns or rows.';
    super({ kind: 'answer_too_large', blame: 'author', retryable: false, dependsOnData: true, message });
  }
}

const matchedMax = 2000;

/** Returns the first group that a pattern captures in the first 2,000 characters of an engine's message. */
export function matchName(message: string, pattern: RegExp): string | undefined {
  const match = pattern.exec(message.slice(0, matchedMax));
  return match?.slice(1).find((name) => name !== undefined);
}

export const describeMissingConnection = (siemType: string | null): string =>
  `There is no connection to a SIEM of type "${siemType}", or there are several. Set \`connectionId\`.`;

/** Converts an HTTP status to an error. `message` is the engine's message, or empty. */
export function httpStatusError(status: number, host: string, message: string): SiemError {
  const end = message === '' ? '.' : `: ${message}`;
  if (status === 401) return upstreamError('credentials_refused', `${host} rejected the credentials${end}`);
  if (status === 403) return upstreamError('rights_missing', `The credentials have no permission on ${host}${end}`);
  if (status === 404) return upstreamError('not_found', `${host} has no such resource${end}`);
  if (status === 429)
    return upstreamError('throttled', `${host} rejected the query because of too many requests${end}`, true);
  if (status === 408 || status === 504) return upstreamError('timeout', `${host} timed out${end}`, true);
  if (status >= 500) return upstreamError('unavailable', `${host} returned status ${status}${end}`, true);
  if (status === 400 || status === 422)
    return dataDependentError('query_error', message || `${host} rejected the query.`);
  return upstreamError('unexpected_answer', `${host} returned status ${status}${end}`);
}

/**
 * Converts a failure of a query to a 422 about the field at `pointer`, and a failure of the SIEM or this service to a 503. Returns other errors
 * unchanged.
 */
export function toQueryProblem(error: unknown, pointer: string): unknown {
  if (!(error instanceof SiemError)) return error;
  const { kind, blame, message } = error.failure;
  if (blame !== 'author' && blame !== 'data') return appError('unavailable', message);
  return appError('check_failed', message, { errors: [{ pointer, code: kind, detail: message }] });
}
