/** The closed set of error codes with their HTTP status. Codes are stable: clients branch on them. */
const statusByCode = {
  malformed_json: 400,
  malformed_request: 400,
  validation_failed: 400,
  as_of_expired: 400,
  unauthorized: 401,
  forbidden: 403,
  organization_suspended: 403,
  person_disabled: 403,
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

/** One change of a record, by whom, with the fields that it changed. `subject` says which of several records it is about. */
export type RecordChange = {
  at: string | null;
  keyId: string | null;
  actor: string | null;
  action: string;
  subject: string | null;
  fields: { field: string; before: unknown; after: unknown }[];
};

/**
 * What changed since the version that a request is based on, latest first. A request with `current`, an ETag or a revision, applies to the record as
 * it is now. Null if it no longer exists.
 */
export type StaleProblem = { current: string | number | null; changes: RecordChange[] };

/** Something that the caller could use instead. `missing` says what it needs first, and is null if it can be used now. */
export type Alternative = { kind: string; id: string; name: string; description: string; missing: string | null };

const staleChangesMax = 20;

type AppErrorOptions = {
  errors?: FieldError[];
  headers?: Record<string, string>;
  quota?: QuotaProblem;
  stale?: StaleProblem;
  alternatives?: Alternative[];
};

export class AppError extends Error {
  readonly code: ErrorCode;
  readonly status: number;
  readonly errors: FieldError[] | undefined;
  readonly headers: Record<string, string>;
  readonly quota: QuotaProblem | undefined;
  readonly stale: StaleProblem | undefined;
  readonly alternatives: Alternative[] | undefined;
  constructor(code: ErrorCode, detail: string, options: AppErrorOptions = {}) {
    super(detail);
    this.code = code;
    this.status = statusByCode[code];
    this.errors = options.errors;
    this.headers = options.headers ?? {};
    this.quota = options.quota;
    this.alternatives = options.alternatives;
    this.stale = options.stale && { ...options.stale, changes: options.stale.changes.slice(0, staleChangesMax) };
  }
}

/** Returns the error that the HTTP layer renders as `application/problem+json`. `detail` is shown to the caller. */
export function appError(code: ErrorCode, detail: string, options?: AppErrorOptions): AppError {
  return new AppError(code, detail, options);
}

/** Returns a 503 that asks the caller to try again after some seconds. */
export const unavailableError = (detail: string, retryAfterSeconds: number): AppError =>
  appError('unavailable', detail, { headers: { 'retry-after': String(retryAfterSeconds) } });

/** Returns the 409 for a request whose `expectedRevision`, at `pointer`, is not the current one. */
export function staleError(pointer: string, detail: string, stale: StaleProblem): AppError {
  return appError('conflict', detail, { errors: [{ pointer, code: 'stale_revision', detail }], stale });
}

/** Returns a 400 about one field. `code` is snake_case. */
export function fieldError(pointer: string, code: string, detail: string): AppError {
  return appError('validation_failed', detail, { errors: [{ pointer, code, detail }] });
}

/** Returns why one of several items failed. Rethrows an unexpected error, which ends the whole request. */
export function toFailureReason(error: unknown): { code: string; detail: string } {
  if (!(error instanceof AppError)) throw error;
  const [first] = error.errors ?? [];
  return first
    ? { code: first.code, detail: `${first.pointer}: ${first.detail}` }
    : { code: error.code, detail: error.message };
}
