/** An invalid field or parameter. `pointer` is a JSON pointer into the body, or `query/…`, `path/…` or `header/…`. */
export type FieldError = { pointer: string; code: string; detail: string };

/** One change that a request did not know, by whom and of which fields. `subject` says which of several records it is about. */
export type RecordChange = {
  at: string | null;
  keyId: string | null;
  actor: string | null;
  action: string;
  subject: string | null;
  fields: { field: string; before?: unknown; after?: unknown }[];
};

/** What changed since the version that a request is based on. `current` is the `If-Match` or `expectedRevision` of the record as it is now. */
export type StaleChanges = { current: string | number | null; changes: RecordChange[] };

type ErrorFields = {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  errors?: FieldError[] | undefined;
  stale?: StaleChanges | undefined;
  retryAfterMs?: number | undefined;
  cause?: unknown;
};

/**
 * A response that is not a success (RFC 9457), or none. `code` is stable and meant for branching. Without a response, `status` is 0 and `code` is
 * `unreachable` or `timeout`.
 */
export class TocsinError extends Error {
  override readonly name = 'TocsinError';
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** Also in the log of the service. */
  readonly requestId: string | undefined;
  readonly errors: FieldError[];
  /** Set for a 409 or 412 because the record changed meanwhile. */
  readonly stale: StaleChanges | undefined;
  /** How long the service asked to wait before the next try. */
  readonly retryAfterMs: number | undefined;

  constructor({ status, code, detail, requestId, errors = [], stale, retryAfterMs, cause }: ErrorFields) {
    const fields = errors.map(({ pointer, detail }) => `\n  ${pointer || 'body'}: ${detail}`).join('');
    super(`${detail} (${code}${requestId === undefined ? '' : `, request ${requestId}`})${fields}`, { cause });
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.requestId = requestId;
    this.errors = errors;
    this.stale = stale;
    this.retryAfterMs = retryAfterMs;
  }

  /** The first invalid field or parameter. */
  get pointer(): string | undefined {
    return this.errors[0]?.pointer;
  }
}

/** Returns the error of a response. A body that is not a problem document, such as a proxy's page, leaves the status alone. */
export function toClientError(body: unknown, response: Response): TocsinError {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => (typeof fields[name] === 'string' ? fields[name] : undefined);
  return new TocsinError({
    status: response.status,
    code: text('code') ?? 'unexpected_response',
    detail: text('detail') ?? `The service responded with status ${response.status}.`,
    requestId: text('requestId') ?? response.headers.get('x-request-id') ?? undefined,
    errors: Array.isArray(fields['errors']) ? (fields['errors'] as FieldError[]) : [],
    stale: fields['stale'] as StaleChanges | undefined,
    retryAfterMs: readRetryAfterMs(response),
  });
}

/** Returns the wait that `Retry-After` demands, in seconds or as a date, or undefined. */
export function readRetryAfterMs({ headers }: Response): number | undefined {
  const text = headers.get('retry-after')?.trim();
  if (!text) return undefined;
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}
