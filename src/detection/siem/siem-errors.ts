import { SiemError } from './connector.ts';

const textMax = 500;

/** The query is wrong as it stands. `column`: the name that the engine does not know. */
export class UnknownColumnError extends SiemError {
  readonly column: string;
  constructor(column: string) {
    super({ kind: 'unknown_column', blame: 'author', retryable: false, message: `No column is named ${column}` });
    this.column = column;
  }
}

/** Something that the author of the query has to mend. */
export function authorError(kind: string, message: string): SiemError {
  return new SiemError({ kind, blame: 'author', retryable: false, message: message.slice(0, textMax) });
}

/** Something that whoever runs the SIEM has to mend; `retryable`: it may pass by itself. */
export function upstreamError(kind: string, message: string, retryable = false): SiemError {
  return new SiemError({ kind, blame: 'upstream', retryable, message: message.slice(0, textMax) });
}

/** Rows too wide to be read at once: with fewer of them, or fewer columns, it would do. */
export class ResponseTooLargeError extends SiemError {
  constructor() {
    const message = 'The answer is larger than 128 MiB: let the query give fewer columns or rows.';
    super({ kind: 'answer_too_large', blame: 'author', retryable: false, message });
  }
}

const toldMax = 2000;

/** The name that a pattern finds in an engine's own words, of their beginning alone: an answer may be very long. */
export function matchName(told: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(told.slice(0, toldMax));
  return found?.slice(1).find((name) => name !== undefined);
}

/** What is wrong where a detection names a kind of SIEM and no connection. */
export const describeMissingConnection = (siemType: string | null): string =>
  `There is no connection to a SIEM of type "${siemType}", or there are several and the detection names none (connectionId).`;

/** What an HTTP status says where the engine's own words say no more. `told`: its message, if it gave one. */
export function httpStatusError(status: number, host: string, told: string): SiemError {
  const said = told === '' ? '.' : `: ${told}`;
  if (status === 401) return upstreamError('credentials_refused', `${host} refused the credentials${said}`);
  if (status === 403) return upstreamError('rights_missing', `${host} does not allow this${said}`);
  if (status === 404) return upstreamError('not_found', `${host} does not know the address${said}`);
  if (status === 429) return upstreamError('throttled', `${host} has no room for another query${said}`, true);
  if (status === 408 || status === 504) return upstreamError('timeout', `${host} took too long${said}`, true);
  if (status >= 500) return upstreamError('unavailable', `${host} answered with status ${status}${said}`, true);
  if (status === 400 || status === 422) return authorError('query_error', told || `${host} refused the query.`);
  return upstreamError('unexpected_answer', `${host} answered with status ${status}${said}`);
}
