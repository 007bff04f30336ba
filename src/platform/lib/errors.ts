/** The closed set of error codes. A code is stable: clients branch on it. The status is the HTTP answer. */
const statusByCode = {
  malformed_json: 400,
  validation_failed: 400,
  as_of_expired: 400,
  unauthorized: 401,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  conflict: 409,
  in_progress: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  unsupported_media_type: 415,
  check_failed: 422,
  idempotency_mismatch: 422,
  rate_limited: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/** One thing wrong with the input: `pointer` is a JSON pointer into the body, or `query/name`, or `path/name`. */
export type FieldError = { pointer: string; code: string; detail: string };

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;
  constructor(code: ErrorCode, detail: string, more: { errors?: FieldError[]; headers?: Record<string, string> } = {}) {
    super(detail);
    this.code = code;
    this.status = statusByCode[code];
    this.errors = more.errors;
    this.headers = more.headers ?? {};
  }
}

/** Makes the error that the HTTP layer renders as `application/problem+json`; `detail` is shown to the caller. */
export function appError(
  code: ErrorCode,
  detail: string,
  more?: { errors?: FieldError[]; headers?: Record<string, string> },
): AppError {
  return new AppError(code, detail, more);
}

/** A 400 about one field: `pointer` as in `FieldError`, `code` snake_case. */
export function fieldError(pointer: string, code: string, detail: string): AppError {
  return appError('validation_failed', detail, { errors: [{ pointer, code, detail }] });
}

/** What a schema says of a value, in words of ours where there is none. */
export const wordsOf = (message: string): string => (message.endsWith('received undefined') ? 'is missing' : message);
