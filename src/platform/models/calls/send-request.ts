import {
  generateText,
  jsonSchema,
  Output,
  streamText,
  type JSONSchema7,
  type LanguageModel,
  type LanguageModelUsage,
  type ModelMessage,
  type SystemModelMessage,
  type ToolSet,
} from 'ai';
import { estimateTokens, type ModelResponse, type TokenUsage, type ToolDeclaration } from '../model-request.ts';
import { type ModelEntry, providers } from '../providers.ts';
import type { ShapedRequest } from './structured-output.ts';

// Without this, the SDK prints warnings about unsupported settings to the console.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** `end` is why the model stopped: `cut` at the limit of tokens, or because it `refused`. */
export type SentResponse = Omit<ModelResponse, 'ms'> & { end: 'complete' | 'cut' | 'refused' };

/** Sends one request through the AI SDK, which repeats it after transient failures. Throws the SDK's errors. */
export async function sendRequest(
  entry: ModelEntry,
  model: LanguageModel,
  request: ShapedRequest,
  { streams }: { streams: boolean },
): Promise<SentResponse> {
  const options = toOptions(entry, model, request);
  const { reply, usage, messages, finishReason } = streams
    ? await readStream(entry, options)
    : await readDocument(options);
  if (finishReason === 'error') throw new Error('the provider ended the response with an error');
  return {
    ...reply,
    messages: messages.map(withObjectInputs),
    tokens: (usage && readUsage(usage)) ?? {
      input: estimateTokens([request.system, request.messages, request.tools]),
      output: estimateTokens([reply.text, reply.toolCalls]),
      isEstimate: true,
    },
    end: finishReason === 'length' ? 'cut' : finishReason === 'content-filter' ? 'refused' : 'complete',
  };
}

function toOptions(entry: ModelEntry, model: LanguageModel, request: ShapedRequest) {
  const { system, messages, tools, toolChoice, schema, maxOutputTokens, signal } = request;
  const continues = tools.length > 1 && toolChoice === undefined;
  return {
    model,
    system: layOutSystem(entry, system),
    messages: layOutMessages(entry, messages, { continues }),
    tools: toToolSet(tools),
    ...(toolChoice ? { toolChoice } : {}),
    ...(schema ? { output: toOutput(schema) } : {}),
    maxOutputTokens: maxOutputTokens ?? entry.maxOutputTokens,
    ...(entry.temperature === undefined ? {} : { temperature: entry.temperature }),
    ...(entry.reasoningEffort === undefined ? {} : { reasoning: entry.reasoningEffort }),
    maxRetries: entry.maxRetries,
    abortSignal: signal,
    // OpenAI stores requests unless told not to. Schemas of authors may use keywords that its strict mode rejects.
    providerOptions: {
      openai: { store: false, strictJsonSchema: false },
      azure: { store: false, strictJsonSchema: false },
    },
  };
}

/** Marks in the form of the providers that cache only what is marked. Others ignore them. */
const mark = { anthropic: { cacheControl: { type: 'ephemeral' } }, bedrock: { cachePoint: { type: 'default' } } };

const isMarked = ({ provider, promptCache }: ModelEntry): boolean => promptCache ?? providers[provider].marksPrompts;

/** Returns the system prompt, marked with the tools before it. Both stay the same over all conversations of a revision. */
const layOutSystem = (entry: ModelEntry, content: string): SystemModelMessage => ({
  role: 'system',
  content,
  ...(isMarked(entry) ? { providerOptions: mark } : {}),
});

/**
 * Marks the end of a conversation that continues: the next step reads from the cache what this one wrote. A conversation of one step is
 * not marked, because nothing would read it.
 */
function layOutMessages(
  entry: ModelEntry,
  messages: ModelMessage[],
  { continues }: { continues: boolean },
): ModelMessage[] {
  const last = messages.at(-1);
  const isLater = messages.some(({ role }) => role === 'assistant');
  if (!last || !isMarked(entry) || !(continues || isLater)) return messages;
  return [...messages.slice(0, -1), { ...last, providerOptions: { ...last.providerOptions, ...mark } }];
}

type Reading = {
  reply: Pick<ModelResponse, 'text' | 'toolCalls'>;
  usage: LanguageModelUsage | undefined;
  messages: ModelMessage[];
  finishReason: string;
};

async function readStream(entry: ModelEntry, options: ReturnType<typeof toOptions>): Promise<Reading> {
  const result = streamText({ ...options, onError: () => undefined });
  const reply: Reading['reply'] = { text: '', toolCalls: [] };
  let end: { usage: LanguageModelUsage; finishReason: string } | undefined;
  let rawReason = '';
  let ignoredForcedTool = false;
  for await (const part of result.fullStream) {
    if (part.type === 'error') {
      if (!isToolChoiceViolation(part.error)) throw part.error;
      ignoredForcedTool = true;
    }
    if (part.type === 'abort') throw new Error('the call was aborted');
    if (part.type === 'text-delta') reply.text += part.text;
    if (part.type === 'tool-call')
      reply.toolCalls.push({ id: part.toolCallId, name: part.toolName, input: asObject(part.input) });
    if (part.type === 'finish') {
      end = { usage: part.totalUsage, finishReason: part.finishReason };
      rawReason = part.rawFinishReason ?? '';
    }
  }
  if (ignoredForcedTool) {
    return { reply, usage: end?.usage, messages: [toMessage(reply)], finishReason: readRawReason(entry, rawReason) };
  }
  if (!end) throw new Error('the response ended early');
  const messages = (await result.responseMessages).filter(({ role }) => role === 'assistant');
  return { reply, messages, ...end };
}

/** Returns why a model stopped that did not call the demanded tool, which the SDK calls an error. */
function readRawReason({ provider }: ModelEntry, reason: string): string {
  const { refused, cut } = providers[provider].stopReasons;
  return refused.includes(reason) ? 'content-filter' : cut.includes(reason) ? 'length' : 'stop';
}

async function readDocument(options: ReturnType<typeof toOptions>): Promise<Reading> {
  const result = await generateText(options).catch((error: unknown) => {
    if (isToolChoiceViolation(error)) return undefined;
    throw error;
  });
  // The SDK drops the text of a response without the tool that was demanded.
  if (!result) return { reply: { text: '', toolCalls: [] }, usage: undefined, messages: [], finishReason: 'stop' };
  const { text, toolCalls, totalUsage, responseMessages, finishReason } = result;
  const calls = toolCalls.map(({ toolCallId, toolName, input }) => ({
    id: toolCallId,
    name: toolName,
    input: asObject(input),
  }));
  const messages = responseMessages.filter(({ role }) => role === 'assistant');
  return { reply: { text, toolCalls: calls }, usage: totalUsage, messages, finishReason };
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

/** The response format of a schema. The SDK does not parse the answer: whether it can be used is for the caller to decide. */
function toOutput({ name, inputSchema }: ToolDeclaration) {
  const output = Output.object({ name, schema: toSchema(inputSchema) });
  return {
    ...output,
    parseCompleteOutput: () => Promise.resolve({}),
    parsePartialOutput: () => Promise.resolve(undefined),
  };
}

const toSchema = (schema: Record<string, unknown>) => jsonSchema<Record<string, unknown>>(schema as JSONSchema7);

const toToolSet = (tools: ShapedRequest['tools']): ToolSet =>
  Object.fromEntries(
    tools.map(({ name, description, inputSchema }) => [name, { description, inputSchema: toSchema(inputSchema) }]),
  );

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
