import { type LanguageModel, APICallError, RetryError } from 'ai';
import { isProgramFault } from '../../lib/external-error.ts';
import { escapeInvisible, truncateText } from '../../lib/text/canonical-text.ts';
import { redactText } from '../../lib/text/redact.ts';
import { createModelFetch, NotStreamedError } from './model-fetch.ts';
import { sendRequest, type SentResponse } from './send-request.ts';
import { isAnswered, isComplete, shapeRequest, type ShapedRequest } from './structured-output.ts';
import { ModelError, modelRefusedError, upstreamModelError } from '../model-error.ts';
import {
  addTokens,
  estimateTokens,
  noTokens,
  type ModelCall,
  type ModelRequest,
  type ModelResponse,
  type OutputWay,
  type ToolDeclaration,
  type TokenUsage,
} from '../model-request.ts';
import { definedOnly, providerOf, type ModelEntry } from '../providers.ts';

/** Failures that no repetition solves, because the model or its settings do not fit what it is asked for. */
const misfits: readonly string[] = ['model_truncated', 'model_context_too_small', 'model_no_tools'];

/** What a model behind an alias can do. `ways` to submit a structured answer, the one that works first. */
export type Abilities = { ways: readonly OutputWay[]; callsTools: boolean };

/**
 * `find` returns what is known of an alias. `learn` stores what a call found out, for every process. `reportMisfit` stores that a call failed
 * because the alias does not fit. None rejects.
 */
export type AliasAbilities = {
  find: () => Promise<Abilities>;
  learn: (abilities: Abilities) => void;
  reportMisfit: (kind: string) => Promise<void>;
};

type Client = { name: string; entry: ModelEntry; abilities: AliasAbilities };
/** One call of an alias, which may need several requests. `streams` turns false once a server has not streamed. */
type Call = Client & { signal: AbortSignal; deadline: number; server: { streams: boolean } };

/**
 * Creates the call of an alias, within the entry's timeout, repetitions included. It asks for a structured answer in the ways of the alias
 * until one succeeds. It throws a ModelError, or the reason of the caller's signal.
 */
export function createModelCall(client: Client): ModelCall {
  const server = { streams: true };
  const { name, entry } = client;
  return async (request) => {
    const timeoutMs = entry.timeoutSeconds * 1000;
    const timeout = AbortSignal.timeout(timeoutMs);
    const startedAt = performance.now();
    const signal = AbortSignal.any([request.signal, timeout]);
    const call: Call = { ...client, signal, deadline: Date.now() + timeoutMs, server };
    try {
      const response = await answer(call, request);
      return { ...response, ms: Math.round(performance.now() - startedAt) };
    } catch (error) {
      request.signal.throwIfAborted();
      const failure = toModelError(error, name, entry, timeout.aborted);
      if (!request.isProbe && failure instanceof ModelError && misfits.includes(failure.failure.kind))
        await client.abilities.reportMisfit(failure.failure.kind);
      throw failure;
    }
  };
}

async function answer(call: Call, request: ModelRequest): Promise<Omit<ModelResponse, 'ms'>> {
  const { name, entry, abilities } = call;
  const { tools, forcedTool } = request;
  const tokens = estimateTokens([request.system, request.messages, tools]);
  if (tokens + entry.maxOutputTokens > entry.contextTokens) throw contextTooSmallError(name, entry, tokens);
  const known = await abilities.find();
  const answerName = forcedTool ?? request.answerTool ?? (tools.length === 1 ? tools[0]!.name : undefined);
  const tool = tools.find((one) => one.name === answerName);
  const canCall = known.callsTools || tool === undefined;
  if (forcedTool === undefined && canCall) {
    try {
      return await send(call, request, undefined);
    } catch (error) {
      if (!tool || !isFailure(error, ['model_no_tools'])) throw error;
      abilities.learn({ ways: known.ways.toSorted(toolsLast), callsTools: false });
    }
  }
  const ways = request.outputWay ? [request.outputWay] : known.ways;
  return answerInWays(call, request, tool!, ways);
}

const toolsLast = (a: OutputWay, b: OutputWay): number => Number(a === 'tool') - Number(b === 'tool');

/** Asks for the answer in each way until one succeeds. Returns the first response if none does: the caller can object to it. */
async function answerInWays(
  call: Call,
  request: ModelRequest,
  tool: ToolDeclaration,
  ways: readonly OutputWay[],
): Promise<Omit<ModelResponse, 'ms'>> {
  let spent = noTokens;
  let first: Omit<ModelResponse, 'ms'> | undefined;
  let rejection: unknown;
  for (const [index, way] of ways.entries()) {
    try {
      const response = await send(call, shapeRequest(request, tool, way), tool);
      spent = addTokens(spent, response.tokens);
      first ??= response;
      if (!isAnswered(response, tool, way)) continue;
      if (index > 0) {
        const { callsTools } = await call.abilities.find();
        call.abilities.learn({ ways: [way, ...ways.filter((other) => other !== way)], callsTools });
      }
      return { ...response, tokens: spent };
    } catch (error) {
      if (!isFailure(error, ['model_bad_request', 'model_no_tools'])) throw error;
      rejection ??= error;
    }
  }
  if (first) return { ...first, tokens: spent };
  throw rejection;
}

const isFailure = (error: unknown, kinds: readonly string[]): boolean =>
  error instanceof ModelError && kinds.includes(error.failure.kind);

/** Sends one request. An answer that was cut is an error, unless what was asked for is complete. */
async function send(
  call: Call,
  request: ShapedRequest,
  tool: ToolDeclaration | undefined,
): Promise<Omit<SentResponse, 'end'>> {
  const { name, entry, signal } = call;
  const maxOutputTokens = request.maxOutputTokens ?? entry.maxOutputTokens;
  try {
    const { end, ...response } = await sendOnce(call, { ...request, signal });
    if (end === 'refused') throw modelRefusedError(name);
    if (end === 'cut' && !(tool && isComplete(response, tool)))
      throw truncatedError(name, response.tokens, maxOutputTokens);
    return response;
  } catch (error) {
    signal.throwIfAborted();
    throw toModelError(error, name, entry, false);
  }
}

async function sendOnce(call: Call, request: ShapedRequest): Promise<SentResponse> {
  const { entry, server } = call;
  const language = await createLanguageModel(call);
  try {
    return await sendRequest(entry, language, request, server);
  } catch (error) {
    if (!(error instanceof NotStreamedError)) throw error;
    server.streams = false;
    return sendRequest(entry, language, request, server);
  }
}

/** Creates the client of a provider for one call. It sends nothing. */
function createLanguageModel({ entry, deadline }: Call): Promise<LanguageModel> {
  const { apiKey, baseUrl: baseURL, headers } = entry;
  const fetch = createModelFetch({ deadline, isPermanent: (body) => readMeaning(entry, body) !== undefined });
  return providerOf(entry).create(entry, { ...definedOnly({ apiKey, baseURL, headers }), fetch });
}

const transient = { retryable: true, pauses: true };
const misconfigured = { retryable: false, pauses: true };
const permanent = { retryable: false, pauses: false };

/** What a provider says about itself in the text of a failure, which its status does not tell. */
type Meaning = 'tooLong' | 'noTools' | 'noCredit';

/** Returns what the wording of a provider means, or undefined. */
function readMeaning(entry: ModelEntry, text: string): Meaning | undefined {
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
const contextTooSmallError = (name: string, { contextTokens, maxOutputTokens }: ModelEntry, tokens: number) =>
  upstreamModelError(
    'model_context_too_small',
    `The prompt of about ${tokens} tokens and the ${maxOutputTokens} of \`maxOutputTokens\` exceed \`contextTokens\` (${contextTokens}) of ${name}. Raise it if the model accepts more, or use a model with a larger context.`,
    permanent,
  );

/** Returns the error of an answer that was cut. If the model wrote less than it was allowed to, its context was full. */
function truncatedError(name: string, tokens: TokenUsage, maxOutputTokens: number): ModelError {
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
