import { appError } from '../../platform/lib/errors.ts';
import { SiemError } from './connector.ts';

/**
 * Converts a failure of a query to a 422 about the field at `pointer`, and a failure of the SIEM or this service to a 503. Returns other errors
 * unchanged.
 */
export function toQueryProblem(error: unknown, pointer: string): unknown {
  if (!(error instanceof SiemError)) return error;
  const { kind, blame, message } = error.failure;
  if (blame !== 'author' && blame !== 'data') return appError('unavailable', message);
  return appError('check_failed', message, { errors: [{ pointer, code: kind, detail: message }] });
}
