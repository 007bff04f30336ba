import { AppError, appError, type ErrorCode, type FieldError } from '../errors.ts';
import { ThreadError } from './thread-error.ts';
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
