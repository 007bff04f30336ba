import { hash, randomBytes } from 'node:crypto';
import type { ModelMessage } from 'ai';
import { findAnswer } from './calls/structured-output.ts';
import { invalidDraftError, ModelError } from './model-error.ts';
import {
  type ToolDeclaration,
  type ModelRequest,
  type ModelResponse,
  type ModelStep,
  noTokens,
} from './model-request.ts';
import { redactDeep } from '../lib/text/redact.ts';
import { callCostUsd, type ConfiguredModel } from './models.ts';
import type { SpendMeter } from './spend-meter.ts';

/** A model with the meter of a conversation. */
export type MeteredModel = SpendMeter & { model: ConfiguredModel };

/** `subject` and `sent` are stored with the step. `sent` has the messages that no earlier step stored. Default: all of them. */
type MeteredRequest = { kind: 'plan' | 'call'; subject: string; request: ModelRequest; sentFrom?: number };

/** A response with the model that answered: that of the alias, or one of its fallbacks. */
export type MeteredResponse = ModelResponse & { model: ConfiguredModel };

/** How long an alias that is unavailable is not called, while it has fallbacks. */
const restMs = 60_000;

/**
 * Calls a model within its budgets, and records the step with its cost. If it fails, its fallbacks are called in their order, each within
 * its own budgets. Throws the first failure of a provider if none answers, or the
 * reason of the signal.
 */
export async function callMetered(metered: MeteredModel, call: MeteredRequest): Promise<MeteredResponse> {
  const { model } = metered;
  const all = [model, ...model.fallbacks];
  const awake = all.filter(({ rest }) => rest.untilMs <= Date.now());
  let failure: ModelError | undefined;
  for (const candidate of awake.length > 0 ? awake : all) {
    try {
      return await callOnce(metered, candidate, call);
    } catch (error) {
      if (call.request.signal.aborted || !(error instanceof ModelError)) throw error;
      const isUpstream = error.failure.blame === 'upstream';
      if (candidate === model && !isUpstream) throw error;
      if (!failure || (isUpstream && failure.failure.blame !== 'upstream')) failure = error;
      if (error.pauses && model.fallbacks.length > 0) candidate.rest.untilMs = Date.now() + restMs;
    }
  }
  throw failure;
}

async function callOnce(
  { checkBudget, recordStep }: SpendMeter,
  model: ConfiguredModel,
  { kind, subject, request, sentFrom = 0 }: MeteredRequest,
): Promise<MeteredResponse> {
  const { system, messages, signal } = request;
  await checkBudget(signal, model);
  signal.throwIfAborted();
  const sent = sentFrom === 0 ? [{ role: 'system', content: system }, ...messages] : messages.slice(sentFrom);
  const { alias, name } = model;
  const step: Omit<ModelStep, 'ms' | 'tokens' | 'costUsd'> = {
    kind,
    entity: subject,
    at: new Date().toISOString(),
    alias,
    model: name,
    sent,
  };
  const startedAt = performance.now();
  const response = await model.call(request).catch(async (error: unknown) => {
    if (!signal.aborted) {
      const tokens = (error instanceof ModelError && error.tokens) || noTokens;
      const ms = Math.round(performance.now() - startedAt);
      // Recording the failed call also releases its budget reservation.
      await recordStep({ ...step, ms, tokens, costUsd: callCostUsd(model, tokens), error: String(error) });
    }
    throw error;
  });
  const { tokens, text, toolCalls, ms } = response;
  const costUsd = callCostUsd(model, tokens);
  await recordStep({ ...step, ms, tokens, costUsd, text, toolCalls: redactDeep(toolCalls) });
  return { ...response, model };
}

/** A question that a model answers by calling a tool. `parse` validates the answer. `subject` is stored with the steps. */
export type ModelQuestion<T> = MeteredModel & {
  subject: string;
  system: string;
  content: string;
  tool: ToolDeclaration;
  parse: (input: unknown) => Promise<{ value: T } | { problem: string }>;
  signal: AbortSignal;
};

/**
 * Asks a model for one structured answer. After an invalid answer the model gets one more attempt. Throws a ModelError;
 * `invalid_draft` if the second answer is invalid too.
 */
export async function askModel<T>(question: ModelQuestion<T>): Promise<T> {
  const { model, subject, system, content, tool, parse, signal } = question;
  const messages: ModelMessage[] = [{ role: 'user', content }];
  let problem = '';
  let sentFrom = 0;
  for (let attempt = 1; attempt <= 2; attempt++) {
    const request = { system, messages, tools: [tool], forcedTool: tool.name, signal };
    const response = await callMetered(question, { kind: 'call', subject, request, sentFrom });
    const { toolCalls } = response;
    const result = await parse(findAnswer(response, tool));
    if ('value' in result) return result.value;
    ({ problem } = result);
    const correction = `This answer cannot be used: ${problem} Call ${tool.name} again with the complete answer.`;
    messages.push(...response.messages);
    sentFrom = messages.length;
    for (const { id, name } of toolCalls)
      messages.push(toolResult(id, name, name === tool.name ? correction : 'not run'));
    if (toolCalls.length === 0) messages.push({ role: 'user', content: correction });
  }
  throw invalidDraftError(model.name, problem);
}

/** Returns the message that answers a tool call. */
export function toolResult(toolCallId: string, toolName: string, text: string): ModelMessage {
  return {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value: text } }],
  };
}

/** Wraps untrusted text for a prompt. The tag is random per conversation, so no log row can contain its closing tag. */
export type Delimiter = { tag: string; wrap: (value: unknown, max?: number) => string };

const truncationNote = '… [cut]';

export function createDelimiter(tag = `data-${randomBytes(9).toString('hex')}`): Delimiter {
  return {
    tag,
    wrap: (value, max = 60_000) => {
      const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'null');
      return `<${tag}>\n${text.length > max ? `${text.slice(0, max)}${truncationNote}` : text}\n</${tag}>`;
    },
  };
}

/**
 * Creates a delimiter for texts of a prompt that providers cache: the prompt stays the same while the texts do. Its tag is a hash of the texts,
 * so no text can contain the tag that depends on it.
 */
export const createStableDelimiter = (kind: string, texts: unknown): Delimiter =>
  createDelimiter(`${kind}-${hash('sha256', JSON.stringify(texts)).slice(0, 24)}`);
