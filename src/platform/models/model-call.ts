import { jsonSchema, streamText, type JSONSchema7, type LanguageModel, type ModelMessage, type ToolSet } from 'ai';
import { modelErrorOf } from './call-error.ts';
import { modelRefused } from './model-error.ts';
import type { ModelEntry } from './model-settings.ts';

// It would otherwise print to the console what a provider does not support.
globalThis.AI_SDK_LOG_WARNINGS = false;

export type ToolOffer = { name: string; description: string; inputSchema: Record<string, unknown> };

/** `forced`: the one tool that the model has to call. */
export type ModelRequest = {
  system: string;
  messages: ModelMessage[];
  tools: readonly ToolOffer[];
  forced?: string | undefined;
  signal: AbortSignal;
};

/** `input` of a tool call that could not be read is undefined. `tokens` are estimated where the provider tells none. */
export type ModelAnswer = {
  text: string;
  toolCalls: { id: string; name: string; input: Record<string, unknown> | undefined }[];
  messages: ModelMessage[];
  tokens: { input: number; output: number };
  ms: number;
};

export type ModelCall = (request: ModelRequest) => Promise<ModelAnswer>;

const charsPerToken = 4;

/** One streamed call without retries, within the entry's time. Throws a ModelError, or the reason of the caller's own signal. */
export function createCall(name: string, entry: ModelEntry, language: LanguageModel): ModelCall {
  return async (request) => {
    const late = AbortSignal.timeout(entry.timeoutSeconds * 1000);
    const begun = performance.now();
    try {
      const answer = await read(entry, language, { ...request, signal: AbortSignal.any([request.signal, late]) });
      if (answer.isRefused) throw modelRefused(name);
      return { ...answer, ms: Math.round(performance.now() - begun) };
    } catch (error) {
      request.signal.throwIfAborted();
      throw modelErrorOf(error, name, late.aborted);
    }
  };
}

async function read(entry: ModelEntry, model: LanguageModel, request: ModelRequest) {
  const { system, messages, tools, forced, signal } = request;
  const result = streamText({
    model,
    system,
    messages,
    tools: toolSet(tools),
    ...(forced === undefined ? {} : { toolChoice: { type: 'tool', toolName: forced } }),
    maxOutputTokens: entry.maxOutputTokens,
    ...(entry.temperature === undefined ? {} : { temperature: entry.temperature }),
    maxRetries: 0,
    abortSignal: signal,
    // Without it OpenAI keeps what it was sent.
    providerOptions: { openai: { store: false }, azure: { store: false } },
    onError: () => undefined,
  });
  const answer = { text: '', toolCalls: [] as ModelAnswer['toolCalls'], isRefused: false };
  let tokens: ModelAnswer['tokens'] | undefined;
  let ended = false;
  let disobeyed = false;
  for await (const part of result.fullStream) {
    if (part.type === 'error') {
      if (!isDisobedience(part.error)) throw part.error;
      disobeyed = true;
    }
    if (part.type === 'abort') throw new Error('the call was ended');
    if (part.type === 'text-delta') answer.text += part.text;
    if (part.type === 'tool-call')
      answer.toolCalls.push({ id: part.toolCallId, name: part.toolName, input: objectOf(part.input) });
    if (part.type === 'finish') {
      ended = true;
      answer.isRefused = part.finishReason === 'content-filter';
      if (part.finishReason === 'error' && !disobeyed) throw new Error('the provider broke off with an error');
      const { inputTokens, outputTokens } = part.totalUsage;
      if (inputTokens !== undefined && outputTokens !== undefined)
        tokens = { input: inputTokens, output: outputTokens };
    }
  }
  if (!ended && !disobeyed) throw new Error('the answer ended too early');
  const own = disobeyed
    ? [plainMessage(answer)]
    : (await result.responseMessages).filter(({ role }) => role === 'assistant');
  return { ...answer, messages: own.map(readable), tokens: tokens ?? estimated(request, answer) };
}

/** Not every server knows how to force a tool. What it said instead may still hold a verdict. */
function isDisobedience(error: unknown): boolean {
  return error instanceof Error && error.name === 'AI_ToolChoiceViolationError';
}

function plainMessage({ text, toolCalls }: Pick<ModelAnswer, 'text' | 'toolCalls'>): ModelMessage {
  const calls = toolCalls.map(({ id, name, input }) => ({
    type: 'tool-call' as const,
    toolCallId: id,
    toolName: name,
    input: input ?? {},
  }));
  return { role: 'assistant', content: [...(text ? [{ type: 'text' as const, text }] : []), ...calls] };
}

function toolSet(tools: readonly ToolOffer[]): ToolSet {
  return Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [
      name,
      { description, inputSchema: jsonSchema<Record<string, unknown>>(inputSchema as JSONSchema7) },
    ]),
  );
}

function objectOf(input: unknown): Record<string, unknown> | undefined {
  return typeof input === 'object' && input !== null && !Array.isArray(input)
    ? (input as Record<string, unknown>)
    : undefined;
}

/** Providers refuse a call whose input is no object when it is sent back to them. */
function readable(message: ModelMessage): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) =>
    part.type === 'tool-call' ? { ...part, input: objectOf(part.input) ?? {} } : part,
  );
  return { ...message, content };
}

function estimated(request: ModelRequest, answer: { text: string; toolCalls: unknown[] }): ModelAnswer['tokens'] {
  const tokensOf = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charsPerToken);
  return {
    input: tokensOf([request.system, request.messages, request.tools]),
    output: tokensOf([answer.text, answer.toolCalls]),
  };
}
