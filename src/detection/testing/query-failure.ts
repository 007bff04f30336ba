import { appError } from '../../platform/lib/errors.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import { SiemError } from '../siem/connector.ts';

/** Converts a query failure to a 422, and a failure of the SIEM, a model or this service to a 503. Returns other errors unchanged. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof ModelError)
    return appError(error.failure.blame === 'author' ? 'check_failed' : 'unavailable', error.failure.message);
  if (!(error instanceof SiemError)) return error;
  const { kind, blame, message } = error.failure;
  if (blame !== 'author' && blame !== 'data') return appError('unavailable', message);
  return appError('check_failed', message, { errors: [{ pointer: '/detectionQuery', code: kind, detail: message }] });
}
