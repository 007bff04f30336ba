import { APICallError } from 'ai';
import { redactText } from '../lib/text/redact.ts';
import { cutText, visibleText } from '../lib/text/canonical-text.ts';
import { ModelError, upstreamError } from './model-error.ts';

const retry = { retryable: true, pauses: true };
const pause = { retryable: false, pauses: true };
const neither = { retryable: false, pauses: false };

/** What an error of a call means: who is to blame, and whether the same call may succeed later. `isLate`: our own time limit ended it. */
export function modelErrorOf(error: unknown, name: string, isLate: boolean): ModelError {
  if (error instanceof ModelError) return error;
  if (isLate) return upstreamError('model_timeout', `${name} took too long to answer.`, retry);
  const said = wordsOf(error);
  const status = APICallError.isInstance(error) ? (error.statusCode ?? 0) : 0;
  if (status === 401 || status === 403)
    return upstreamError(
      'model_refused_key',
      `${name} refused the key, or its right to the model (${status})${said}`,
      pause,
    );
  if (status === 404) return upstreamError('model_unknown', `${name} is not known to its provider (404)${said}`, pause);
  if (status === 429)
    return upstreamError('model_rate_limited', `${name} is limited or out of credit (429)${said}`, retry);
  if (status >= 400 && status < 500 && status !== 408)
    return upstreamError('model_bad_request', `${name} did not take the request (${status})${said}`, neither);
  const what = status >= 400 ? `failed (${status})` : 'cannot be reached or broke off';
  return upstreamError('model_unavailable', `${name} ${what}${said}`, retry);
}

// The provider's words help an operator. They are not the request, which holds rows, but might quote it.
function wordsOf(error: unknown): string {
  const message = error instanceof Error ? error.message : typeof error === 'string' ? error : '';
  return message ? `: ${cutText(visibleText(redactText(message)), 300)}` : '.';
}
