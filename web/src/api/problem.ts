type ProblemFields = {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  errors?: FieldProblem[] | undefined;
  stale?: StaleChanges | undefined;
  alternatives?: Alternative[] | undefined;
  cause?: unknown;
};

/** A change of somebody else. `subject` says which of several records it is about. */
export type RecordChange = {
  at: string | null;
  keyId: string | null;
  actor: string | null;
  subject: string | null;
  fields: { field: string; before?: unknown; after?: unknown }[];
};

/** What changed since the version that a change is based on. `current` is the version now, null if the record no longer exists. */
type StaleChanges = { current: string | number | null; changes: RecordChange[] };

/** Something that can be used instead. `missing` is what the logs lack for it. */
export type Alternative = { kind: string; id: string; name: string; description: string; missing: string | null };

export type FieldProblem = { pointer: string; code: string; detail: string };

/** An answer of the API that is not a success (RFC 9457). `status` is 0 if there was no answer. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly errors: FieldProblem[];
  readonly stale: StaleChanges | undefined;
  readonly alternatives: Alternative[];
  constructor({ status, code, detail, requestId, errors, stale, alternatives, cause }: ProblemFields) {
    super(detail, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors ?? [];
    this.stale = stale;
    this.alternatives = alternatives ?? [];
  }
}

/** Reads a problem document. A body of another shape (a proxy's page) becomes a problem with the status alone. */
export function toProblem(body: unknown, status: number): ApiProblem {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const text = (name: string): string | undefined => (typeof fields[name] === 'string' ? fields[name] : undefined);
  return new ApiProblem({
    status,
    code: text('code') ?? 'unexpected_answer',
    detail: text('detail') ?? text('title') ?? `The service answered with status ${status}.`,
    requestId: text('requestId'),
    errors: Array.isArray(fields['errors']) ? (fields['errors'] as FieldProblem[]) : undefined,
    stale: fields['stale'] as StaleChanges | undefined,
    alternatives: Array.isArray(fields['alternatives']) ? (fields['alternatives'] as Alternative[]) : undefined,
  });
}

/** Returns whether an error means that no session exists or that it has ended. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401;
