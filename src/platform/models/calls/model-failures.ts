import { APICallError, RetryError } from 'ai';
import { isProgramFault } from '../../lib/external-error.ts';
import { escapeInvisible, truncateText } from '../../lib/text/canonical-text.ts';
import { redactText } from '../../lib/text/redact.ts';
import { ModelError, upstreamModelError } from '../model-error.ts';
import type { TokenUsage } from '../model-request.ts';
import { type ModelEntry, providerOf } from '../providers.ts';

const transient = { retryable: true, pauses: true };
const misconfigured = { retryable: false, pauses: true };
const permanent = { retryable: false, pauses: false };

/** What a provider says about itself in the text of a failure, which its status does not tell. */
type Meaning = 'tooLong' | 'noTools' | 'noCredit';

/** Returns what the wording of a provider means, or undefined. */
export function readMeaning(entry: ModelEntry, text: string): Meaning | undefined {
  const { wordings } = providerOf(entry);
  const meanings = ['tooLong', 'noTools', 'noCredit'] as const;
  return meanings.find((meaning) => wordings[meaning].some((wording) => wording.test(text)));
}

/**
 * Classifies the error of a call, unless it is a mistake of this program, for which no provider is paused. `isTimeout` means that the
 * entry's own time limit ended the call.
 */
export function toModelError(caught: unknown, name: string, entry: ModelEntry, isTimeout: boolean): Error {
  const error = RetryError.isInstance(caught) ? caught.lastError : caught;
  if (error instanceof ModelError) return error;
  if (!isTimeout && isProgramFault(error)) return error as Error;
  if (isTimeout) {
    const seconds = entry.timeoutSeconds;
    const problem = `${name} did not respond within ${seconds} s. Raise \`timeoutSeconds\` of the alias if the model is slow.`;
    return upstreamModelError('model_timeout', problem, transient);
  }
  const call = APICallError.isInstance(error) ? error : undefined;
  const reason = describeError(error);
  const meaning = readMeaning(entry, `${String((error as Error)?.message ?? error)} ${call?.responseBody ?? ''}`);
  if (meaning) return fromMeaning(meaning, name, reason);
  return fromStatus(call?.statusCode ?? 0, name, reason);
}

function fromMeaning(meaning: Meaning, name: string, reason: string): ModelError {
  if (meaning === 'noCredit')
    return upstreamModelError('model_rate_limited', `${name} is out of credit${reason}`, misconfigured);
  if (meaning === 'noTools') {
    const remedy = 'Use a model that supports tools, or enable them on its server.';
    return upstreamModelError('model_no_tools', `${name} cannot call tools${reason} ${remedy}`, permanent);
  }
  const remedy =
    'Set `contextTokens` of the alias to the context of the model, raise the context of its server, or use a model with a larger one.';
  return upstreamModelError(
    'model_context_too_small',
    `The prompt is too long for ${name}${reason} ${remedy}`,
    permanent,
  );
}

function fromStatus(status: number, name: string, reason: string): ModelError {
  if (status === 401 || status === 403) {
    const problem = `${name} rejected the API key or its access to the model (${status})${reason}`;
    return upstreamModelError('model_refused_key', problem, misconfigured);
  }
  if (status === 404)
    return upstreamModelError('model_unknown', `The provider does not know ${name} (404)${reason}`, misconfigured);
  if (status === 429)
    return upstreamModelError('model_rate_limited', `${name} is rate limited (429)${reason}`, transient);
  if (status >= 400 && status < 500 && status !== 408)
    return upstreamModelError('model_bad_request', `${name} rejected the request (${status})${reason}`, permanent);
  const problem = status >= 400 ? `failed (${status})` : 'is unreachable or ended the connection';
  return upstreamModelError('model_unavailable', `${name} ${problem}${reason}`, transient);
}

/** Returns the error of a prompt that does not fit into the context that the settings state. No request was sent. */
export const contextTooSmallError = (name: string, { contextTokens, maxOutputTokens }: ModelEntry, tokens: number) =>
  upstreamModelError(
    'model_context_too_small',
    `The prompt of about ${tokens} tokens and the ${maxOutputTokens} of \`maxOutputTokens\` exceed \`contextTokens\` (${contextTokens}) of ${name}. Raise it if the model accepts more, or use a model with a larger context.`,
    permanent,
  );

/** Returns the error of an answer that was cut. If the model wrote less than it was allowed to, its context was full. */
export function truncatedError(name: string, tokens: TokenUsage, maxOutputTokens: number): ModelError {
  const isFull = !tokens.isEstimate && tokens.output > 0 && tokens.output < maxOutputTokens * 0.9;
  const problem = isFull
    ? `The answer of ${name} was cut after ${tokens.output} tokens, because its context of ${tokens.input + tokens.output} is full. Raise the context of its server, and set \`contextTokens\` of the alias to it.`
    : `The answer of ${name} was cut at \`maxOutputTokens\` (${maxOutputTokens}). Raise it for the alias, or lower its \`reasoningEffort\`.`;
  const error = upstreamModelError('model_truncated', problem, permanent);
  error.tokens = tokens;
  return error;
}

// The provider's message helps an operator, but may quote the request, which contains log rows.
function describeError(error: unknown): string {
  const message = error instanceof Error ? error.message : typeof error === 'string' ? error : '';
  const shown = message.trim().replace(/\.$/, '');
  return shown ? `: ${truncateText(escapeInvisible(redactText(shown)), 300)}.` : '.';
}
