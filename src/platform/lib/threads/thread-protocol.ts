import { AppError, appError, type ErrorCode, type FieldError, unavailableError } from '../errors.ts';
import { ExternalError } from '../external-error.ts';

/** Messages to a thread: a task, or the answer to one of its calls. After a large task the thread collects garbage. */
export type ToThread = { id: number; task: unknown; isLarge: boolean } | ({ id: number; call: number } & Outcome);
/** Messages from a thread: that it has started, the outcome of a task, or a call of a task to the pool's owner. */
export type FromThread =
  | { isReady: true }
  | ({ id: number } & Outcome)
  | { id: number; call: number; request: unknown };
export type Outcome = { result: unknown } | { error: ThreadedError };

/** An error as a message between threads. An `AppError`, an `ExternalError` and a `ThreadError` stay what they are. */
type ThreadedError = {
  message: string;
  app?: { code: ErrorCode; errors: FieldError[] | undefined };
  reason?: ThreadError['reason'];
  isExternal?: true;
};

export function toOutcomeError(error: unknown): Outcome {
  if (error instanceof AppError)
    return { error: { message: error.message, app: { code: error.code, errors: error.errors } } };
  if (error instanceof ThreadError) return { error: { message: error.message, reason: error.reason } };
  if (error instanceof ExternalError) return { error: { message: error.message, isExternal: true } };
  return { error: { message: error instanceof Error ? error.message : String(error) } };
}

export function fromOutcomeError({ message, app, reason, isExternal }: ThreadedError): Error {
  if (reason) return new ThreadError(reason, message);
  if (isExternal) return new ExternalError(message);
  return app ? appError(app.code, message, app.errors ? { errors: app.errors } : {}) : new Error(message);
}

/** Runs `work` and returns its outcome as a message. Never rejects. */
export async function toOutcome(work: () => unknown): Promise<Outcome> {
  try {
    return { result: await work() };
  } catch (error) {
    return toOutcomeError(error);
  }
}

/** `full`: too many tasks are waiting. `timeout`, `crashed`: caused by the task. `stopped`: by the caller's signal or by `close`. */
export class ThreadError extends Error {
  readonly reason: 'full' | 'timeout' | 'crashed' | 'stopped';
  constructor(reason: ThreadError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns a 503 instead of the error of a pool that was full or stopped, and any other error unchanged. */
export const toUnavailable = (error: unknown, detail: string, retryAfterSeconds: number): unknown =>
  isPoolBusy(error) ? unavailableError(detail, retryAfterSeconds) : error;

/** Returns whether a task failed only because the pool was full or stopped. */
export const isPoolBusy = (error: unknown): boolean =>
  error instanceof ThreadError && (error.reason === 'full' || error.reason === 'stopped');
