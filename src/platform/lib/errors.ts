/** The closed set of error codes with their HTTP status. Codes are stable: clients branch on them. */
const statusByCode = {
  malformed_json: 400,
  malformed_request: 400,
  validation_failed: 400,
  as_of_expired: 400,
  unauthorized: 401,
  forbidden: 403,
  organization_suspended: 403,
  not_found: 404,
  method_not_allowed: 405,
  not_acceptable: 406,
  request_timeout: 408,
  conflict: 409,
  in_progress: 409,
  quota_reached: 409,
  precondition_failed: 412,
  payload_too_large: 413,
  uri_too_long: 414,
  unsupported_media_type: 415,
  range_not_satisfiable: 416,
  expectation_failed: 417,
  check_failed: 422,
  idempotency_mismatch: 422,
  quota_exceeded: 429,
  rate_limited: 429,
  headers_too_large: 431,
  client_closed_request: 499,
  internal: 500,
  unavailable: 503,
  insufficient_storage: 507,
} as const;

export type ErrorCode = keyof typeof statusByCode;

/** One problem with the input. `pointer` is a JSON pointer into the body, or `query/name`, `path/name` or `header/name`. */
export type FieldError = { pointer: string; code: string; detail: string };

/** The quota of an organization that an error is about. `resetsAt` is null for what is counted as of now. */
export type QuotaProblem = { name: string; limit: number; used: number; resetsAt: string | null };

type AppErrorOptions = { errors?: FieldError[]; headers?: Record<string, string>; quota?: QuotaProblem };

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;
  readonly quota: QuotaProblem | undefined;
  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail);
    this.code = code;
    this.status = statusByCode[code];
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.quota = options.quota;
  }
}

/** Returns the error that the HTTP layer renders as `application/problem+json`. `detail` is shown to the caller. */
export function appError(code: ErrorCode, detail: string, options?: AppErrorOptions): AppError {
  return new AppError(code, detail, options);
}

/** Returns a 503 that asks the caller to try again after some seconds. */
export const unavailableError = (detail: string, retryAfterSeconds: number): AppError =>
  appError('unavailable', detail, { headers: { 'retry-after': String(retryAfterSeconds) } });

/** Returns a 400 about one field. `code` is snake_case. */
export function fieldError(pointer: string, code: string, detail: string): AppError {
  return appError('validation_failed', detail, { errors: [{ pointer, code, detail }] });
}
