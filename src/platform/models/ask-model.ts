import { hash, randomBytes } from 'node:crypto';
import type { ModelMessage } from 'ai';
import { redactDeep } from '../lib/text/redact.ts';
import { invalidDraftError } from './model-error.ts';
import { callCostUsd, type ConfiguredModel } from './models.ts';
import type { SpendMeter } from './spend-meter.ts';
import type { ToolDeclaration } from './model-call.ts';

/** A question that a model answers by calling a tool. `parse` validates the answer. `subject` is stored with the steps. */
export type ModelQuestion<T> = SpendMeter & {
  model: ConfiguredModel;
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
  const { model, subject, system, content, tool, parse, checkBudget, recordStep, signal } = question;
  const messages: ModelMessage[] = [{ role: 'user', content }];
  let problem = '';
  let recordedCount = 0;
  for (let attempt = 1; attempt <= 2; attempt++) {
    await checkBudget(signal);
    const sent =
      recordedCount === 0 ? [{ role: 'system', content: system }, ...messages] : messages.slice(recordedCount);
    const step = { kind: 'call' as const, entity: subject, at: new Date().toISOString(), model: model.name, sent };
    const startedAt = performance.now();
    const response = await model
      .call({ system, messages, tools: [tool], forcedTool: tool.name, signal })
      .catch(async (error: unknown) => {
        const ms = Math.round(performance.now() - startedAt);
        // Recording the failed call also releases its budget reservation.
        await recordStep({ ...step, ms, tokens: { input: 0, output: 0 }, costUsd: 0, error: String(error) });
        throw error;
      });
    const { tokens, text, toolCalls, ms } = response;
    await recordStep({
      ...step,
      ms,
      tokens,
      costUsd: callCostUsd(model, tokens),
      text,
      toolCalls: redactDeep(toolCalls),
    });
    const submitted = toolCalls.find(({ name }) => name === tool.name);
    const result = await parse(submitted ? submitted.input : extractJson(text));
    if ('value' in result) return result.value;
    ({ problem } = result);
    const correction = `This answer cannot be used: ${problem} Call ${tool.name} again with the complete answer.`;
    messages.push(...response.messages);
    recordedCount = messages.length;
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

/** Returns the JSON object in a model's text, often in a code fence, or undefined. Models without tool support submit their answer this way. */
export function extractJson(text: string): unknown {
  const from = text.indexOf('{');
  const to = text.lastIndexOf('}');
  if (from === -1 || to < from) return undefined;
  try {
    return JSON.parse(text.slice(from, to + 1));
  } catch {
    return undefined;
  }
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
