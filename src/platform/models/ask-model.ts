import { hash, randomBytes } from 'node:crypto';
import type { ModelMessage } from 'ai';
import { findAnswer } from './calls/structured-output.ts';
import { callMetered, type MeteredModel } from './metered-call.ts';
import { invalidDraftError } from './model-error.ts';
import type { ToolDeclaration } from './model-request.ts';

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
