import { appError } from '../lib/errors.ts';
import { SiemError } from '../siem/connector.ts';

/** A query that fails, as a 422 about the query; what the SIEM or this service is to blame for, as a 503. */
export function failureAsError(error: unknown): unknown {
  if (!(error instanceof SiemError)) return error;
  const { kind, blame, message } = error.failure;
  if (blame !== 'author') return appError('unavailable', message);
  return appError('check_failed', message, { errors: [{ pointer: '/detectionQuery', code: kind, detail: message }] });
}
