import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { AppError } from '../lib/errors.ts';

const attemptsMax = 6;
const pauseMaxMs = 1_000;
/** serialization_failure and deadlock_detected: PostgreSQL rolled the transaction back only because of concurrent ones. */
const conflicts = new Set(['40001', '40P01']);

const codeOf = (error: unknown): string => (error as { code?: string } | undefined)?.code ?? '';
const isConflict = (error: unknown): boolean => conflicts.has(codeOf(error));
const isLockTimeout = (error: unknown): boolean => codeOf(error) === '55P03';

/**
 * Runs a whole transaction, and again if it failed only because of concurrent ones: up to six times, after a random pause that grows to a
 * second. Rejects with the last error.
 */
export const retryOnConflict = <T>(attempt: () => Promise<T>): Promise<T> =>
  retryOn(isConflict, attempt, (failures) => sleep(Math.random() * Math.min(pauseMaxMs, 20 * 2 ** failures)));

/** Runs a transaction of background work, and again if it waited too long for a lock: up to six times. Rejects with the last error. */
export const retryOnLockTimeout = <T>(attempt: () => Promise<T>): Promise<T> => retryOn(isLockTimeout, attempt);

async function retryOn<T>(
  isRetried: (error: unknown) => boolean,
  attempt: () => Promise<T>,
  pause?: (failures: number) => Promise<void>,
): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await attempt();
    } catch (error) {
      if (failures >= attemptsMax || !isRetried(error)) throw error;
      await pause?.(failures);
    }
  }
}

/**
 * Returns whether a transaction that failed with this error may be committed nevertheless: the connection was lost, perhaps while the server
 * committed. After an error of the server or of our own rules, it is rolled back.
 */
export function mayHaveCommitted(error: unknown): boolean {
  if (error instanceof AppError) return false;
  return !(error instanceof pg.DatabaseError && error.severity === 'ERROR');
}
