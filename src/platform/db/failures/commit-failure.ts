import pg from 'pg';
import { AppError } from '../../lib/errors.ts';

/**
 * Returns whether a transaction that failed with this error may be committed nevertheless: the connection was lost, perhaps while the server
 * committed. After an error of the server or of our own rules, it is rolled back.
 */
export function mayHaveCommitted(error: unknown): boolean {
  if (error instanceof AppError) return false;
  return !(error instanceof pg.DatabaseError && error.severity === 'ERROR');
}
