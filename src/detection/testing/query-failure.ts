import { appError } from '../../platform/lib/errors.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import { SiemError } from '../siem/connector.ts';

/** A query that fails, as a 422 about the query; what the SIEM, a model or this service is to blame for, as a 503. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof ModelError)
    return appError(error.failure.blame === 'author' ? 'check_failed' : 'unavailable', error.failure.message);
  if (!(error instanceof SiemError)) return error;
  const { kind, blame, message } = error.failure;
  if (blame !== 'author') return appError('unavailable', message);
  return appError('check_failed', message, { errors: [{ pointer: '/detectionQuery', code: kind, detail: message }] });
}
