import { unavailableError } from '../errors.ts';

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
