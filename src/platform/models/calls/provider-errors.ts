import { APICallError } from 'ai';
import { isProgramFault } from '../../lib/external-error.ts';
import { redactText } from '../../lib/text/redact.ts';
import { truncateText, escapeInvisible } from '../../lib/text/canonical-text.ts';
import { ModelError, upstreamModelError } from '../model-error.ts';

const transient = { retryable: true, pauses: true };
const misconfigured = { retryable: false, pauses: true };
const permanent = { retryable: false, pauses: false };

/** Classifies the error of a call, unless it is a mistake of this program, for which no provider is paused. `isTimeout` means that the entry's own time limit ended the call. */
export function toModelError(error: unknown, name: string, isTimeout: boolean): Error {
  if (error instanceof ModelError) return error;
  if (!isTimeout && isProgramFault(error)) return error as Error;
  if (isTimeout) return upstreamModelError('model_timeout', `${name} did not respond in time.`, transient);
  const reason = describeError(error);
  const status = APICallError.isInstance(error) ? (error.statusCode ?? 0) : 0;
  if (status === 401 || status === 403) {
    const problem = `${name} rejected the API key or its access to the model (${status})${reason}`;
    return upstreamModelError('model_refused_key', problem, misconfigured);
  }
  if (status === 404)
    return upstreamModelError('model_unknown', `The provider does not know ${name} (404)${reason}`, misconfigured);
  if (status === 429) {
    const problem = `${name} is rate limited or out of credit (429)${reason}`;
    return upstreamModelError('model_rate_limited', problem, transient);
  }
  if (status >= 400 && status < 500 && status !== 408)
    return upstreamModelError('model_bad_request', `${name} rejected the request (${status})${reason}`, permanent);
  const problem = status >= 400 ? `failed (${status})` : 'is unreachable or ended the connection';
  return upstreamModelError('model_unavailable', `${name} ${problem}${reason}`, transient);
}

// The provider's message helps an operator, but may quote the request, which contains log rows.
function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : typeof error === 'string' ? error : '';
  return message ? `: ${truncateText(escapeInvisible(redactText(message)), 300)}` : '.';
}
