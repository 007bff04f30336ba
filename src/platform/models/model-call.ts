import {
  jsonSchema,
  streamText,
  type JSONSchema7,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  type SystemModelMessage,
  type ToolSet,
  APICallError,
} from 'ai';
import { modelRefusedError, ModelError, upstreamModelError } from './model-error.ts';
import { outboundFetch } from '../lib/outbound-http/proxy.ts';
import { definedOnly, type ModelEntry, providerOf, providers } from './providers.ts';
import { isProgramFault } from '../lib/external-error.ts';
import { redactText } from '../lib/text/redact.ts';
import { truncateText, escapeInvisible } from '../lib/text/canonical-text.ts';

// Without this, the SDK prints warnings about unsupported settings to the console.
globalThis.AI_SDK_LOG_WARNINGS = false;

export type ToolDeclaration = { name: string; description: string; inputSchema: Record<string, unknown> };

/** `forcedTool` is the one tool that the model must call. */
type ModelRequest = {
  system: string;
  messages: ModelMessage[];
  tools: readonly ToolDeclaration[];
  forcedTool?: string | undefined;
  signal: AbortSignal;
};

/**
 * The tokens of a call. `cached` of the input tokens came from the provider's prompt cache, and `cacheWritten` of them were stored
 * there. Providers charge both at a price of their own.
 */
export type TokenUsage = { input: number; output: number; cached?: number; cacheWritten?: number };

/** `input` is undefined for a tool call whose arguments are not a JSON object. `tokens` is an estimate if the provider reports none. */
export type ModelResponse = {
  text: string;
  toolCalls: { id: string; name: string; input: Record<string, unknown> | undefined }[];
  messages: ModelMessage[];
  tokens: TokenUsage;
  ms: number;
};

export type ModelCall = (request: ModelRequest) => Promise<ModelResponse>;

const charsPerToken = 4;

/** Creates a streaming call without retries, limited by the entry's timeout. It throws a ModelError, or the reason of the caller's signal. */
export function createModelCall(name: string, entry: ModelEntry, language: LanguageModel): ModelCall {
  return async (request) => {
    const timeout = AbortSignal.timeout(entry.timeoutSeconds * 1000);
    const startedAt = performance.now();
    try {
      const { isRefused, ...response } = await streamResponse(entry, language, {
        ...request,
        signal: AbortSignal.any([request.signal, timeout]),
      });
      if (isRefused) throw modelRefusedError(name);
      return { ...response, ms: Math.round(performance.now() - startedAt) };
    } catch (error) {
      request.signal.throwIfAborted();
      throw toModelError(error, name, timeout.aborted);
    }
  };
}

async function streamResponse(entry: ModelEntry, model: LanguageModel, request: ModelRequest) {
  const { system, messages, tools, forcedTool, signal } = request;
  const result = streamText({
    model,
    system: toSystemMessage(entry, system),
    messages,
    tools: toToolSet(tools),
    ...(forcedTool === undefined ? {} : { toolChoice: { type: 'tool', toolName: forcedTool } }),
    maxOutputTokens: entry.maxOutputTokens,
    ...(entry.temperature === undefined ? {} : { temperature: entry.temperature }),
    maxRetries: 0,
    abortSignal: signal,
    // OpenAI stores requests unless told not to.
    providerOptions: { openai: { store: false }, azure: { store: false } },
    onError: () => undefined,
  });
  const response = { text: '', toolCalls: [] as ModelResponse['toolCalls'], isRefused: false };
  let tokens: ModelResponse['tokens'] | undefined;
  let isFinished = false;
  let ignoredForcedTool = false;
  for await (const part of result.fullStream) {
    if (part.type === 'error') {
      if (!isToolChoiceViolation(part.error)) throw part.error;
      ignoredForcedTool = true;
    }
    if (part.type === 'abort') throw new Error('the call was aborted');
    if (part.type === 'text-delta') response.text += part.text;
    if (part.type === 'tool-call')
      response.toolCalls.push({ id: part.toolCallId, name: part.toolName, input: asObject(part.input) });
    if (part.type === 'finish') {
      isFinished = true;
      response.isRefused = part.finishReason === 'content-filter';
      if (part.finishReason === 'error' && !ignoredForcedTool)
        throw new Error('the provider ended the response with an error');
      tokens = readUsage(part.totalUsage);
    }
  }
  if (!isFinished && !ignoredForcedTool) throw new Error('the response ended early');
  const responseMessages = ignoredForcedTool
    ? [toMessage(response)]
    : (await result.responseMessages).filter(({ role }) => role === 'assistant');
  return {
    ...response,
    messages: responseMessages.map(withObjectInputs),
    tokens: tokens ?? estimateTokens(request, response),
  };
}

/** Marks the tools and the system prompt for the prompt cache of providers that cache only what is marked. */
function toSystemMessage({ provider, promptCache }: ModelEntry, content: string): SystemModelMessage {
  const isMarked = promptCache ?? providers[provider].marksPrompts;
  if (!isMarked) return { role: 'system', content };
  const anthropic = { cacheControl: { type: 'ephemeral' } };
  const bedrock = { cachePoint: { type: 'default' } };
  return { role: 'system', content, providerOptions: { anthropic, bedrock } };
}

function readUsage({ inputTokens, outputTokens, inputTokenDetails }: LanguageModelUsage): TokenUsage | undefined {
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const { cacheReadTokens, cacheWriteTokens } = inputTokenDetails;
  return {
    input: inputTokens,
    output: outputTokens,
    ...(cacheReadTokens ? { cached: cacheReadTokens } : {}),
    ...(cacheWriteTokens ? { cacheWritten: cacheWriteTokens } : {}),
  };
}

/** Returns whether a server could not force a tool. Its response may still contain the requested answer. */
function isToolChoiceViolation(error: unknown): boolean {
  return error instanceof Error && error.name === 'AI_ToolChoiceViolationError';
}

function toMessage({ text, toolCalls }: Pick<ModelResponse, 'text' | 'toolCalls'>): ModelMessage {
  const calls = toolCalls.map(({ id, name, input }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: input ?? {},
  }));
  return { role: 'assistant', content: [...(text ? [{ type: 'text' as const, text }] : []), ...calls] };
}

function toToolSet(tools: readonly ToolDeclaration[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      { description, inputSchema: jsonSchema<Record<string, unknown>>(inputSchema as JSONSchema7) },
    ]),
  );
}

function asObject(input: unknown): Record<string, unknown> | undefined {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : undefined;
}

/** Replaces tool inputs that are not objects: providers reject such calls when the conversation is sent back to them. */
function withObjectInputs(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, input: asObject(part.input) ?? {} } : part,
  );
  return { ...message, content };
}

function estimateTokens(
  request: ModelRequest,
  response: { text: string; toolCalls: unknown[] },
): ModelResponse['tokens'] {
  const estimate = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charsPerToken);
  return {
    input: estimate([request.system, request.messages, request.tools]),
    output: estimate([response.text, response.toolCalls]),
  };
}

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

/** Creates the client of a provider, which sends no request. */
export const createLanguageModel = (entry: ModelEntry): Promise<LanguageModel> => {
  const { apiKey, baseUrl: baseURL, headers } = entry;
  return providerOf(entry).create(entry, { ...definedOnly({ apiKey, baseURL, headers }), fetch: modelFetch });
};

const bytesMax = 8 * 1024 * 1024;

/** The fetch of every provider. Rejects redirects, so that prompts reach only the configured address, and responses over 8 MiB. */
const modelFetch: typeof globalThis.fetch = async (input, init) => {
  const response = await outboundFetch(input, { ...init, redirect: 'error' });
  if (!response.body) return response;
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(limitBytes()), { status, statusText, headers });
};

function limitBytes(): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> {
  let size = 0;
  return new TransformStream({
    transform: (chunk, controller) => {
      size += chunk.byteLength;
      if (size > bytesMax) controller.error(new Error(`the response is larger than ${bytesMax} bytes`));
      else controller.enqueue(chunk);
    },
  });
}
