import { appError } from '../../platform/lib/errors.ts';
import { ModelError } from '../../platform/models/model-error.ts';
import { toQueryProblem } from '../siem/query-problem.ts';

/** Converts a query failure to a 422, and a failure of the SIEM, a model or this service to a 503. Returns other errors unchanged. */
export function toQueryError(error: unknown): unknown {
  if (error instanceof ModelError)
    return appError(error.failure.blame === 'author' ? 'check_failed' : 'unavailable', error.failure.message);
  return toQueryProblem(error, '/detectionQuery');
}
