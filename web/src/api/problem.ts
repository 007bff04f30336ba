type ProblemFields = {
  status: number;
  code: string;
  detail: string;
  requestId?: string | undefined;
  errors?: FieldProblem[] | undefined;
  cause?: unknown;
};

export type FieldProblem = { pointer: string; code: string; detail: string };

/** An answer of the API that is not a success (RFC 9457). `status` is 0 if there was no answer. */
export class ApiProblem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | undefined;
  readonly errors: FieldProblem[];
  constructor({ status, code, detail, requestId, errors, cause }: ProblemFields) {
    super(detail, { cause });
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.errors = errors ?? [];
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
  });
}

/** Returns whether an error means that no session exists or that it has ended. */
export const isSignedOut = (error: unknown): boolean => error instanceof ApiProblem && error.status === 401;
