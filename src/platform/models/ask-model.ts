import type { ModelMessage } from 'ai';
import type { ToolOffer } from './model-call.ts';
import { jsonIn } from './extract-json.ts';
import { invalidDraft } from './model-error.ts';
import { costOf, type ModelRef } from './models.ts';
import { redacted } from '../../detection/verdicts/model/judge-prompt.ts';
import type { Step } from './model-step.ts';

/**
 * What a model is asked to submit through a tool. `read` says what is wrong with it, `admit` throws when a budget is used up, `record`
 * keeps a step before the next begins; `about` is what its steps say they are about.
 */
export type Question<T> = {
  model: ModelRef;
  about: string;
  system: string;
  content: string;
  tool: ToolOffer;
  read: (input: unknown) => Promise<{ value: T } | { problem: string }>;
  admit: () => Promise<void>;
  record: (step: Step) => Promise<void>;
  signal: AbortSignal;
};

/** Asks a model for one structured answer, with one repair. Throws a ModelError, `invalid_draft` where the second is no better. */
export async function askModel<T>({ model, tool, read, ...question }: Question<T>): Promise<T> {
  const { about, system, content, admit, record, signal } = question;
  const messages: ModelMessage[] = [{ role: 'user', content }];
  let problem = '';
  let kept = 0;
  for (let attempt = 1; attempt <= 2; attempt++) {
    await admit();
    const sent = kept === 0 ? [{ role: 'system', content: system }, ...messages] : messages.slice(kept);
    const step = { kind: 'call' as const, entity: about, at: new Date().toISOString(), model: model.name, sent };
    const begun = performance.now();
    const answer = await model
      .call({ system, messages, tools: [tool], forced: tool.name, signal })
      .catch(async (error: unknown) => {
        const ms = Math.round(performance.now() - begun);
        // What was set aside for the call is free again.
        await record({ ...step, ms, tokens: { input: 0, output: 0 }, costUsd: 0, error: String(error) });
        throw error;
      });
    const { tokens, text, ms } = answer;
    await record({ ...step, ms, tokens, costUsd: costOf(model, tokens), text, toolCalls: redacted(answer.toolCalls) });
    const submitted = answer.toolCalls.find(({ name }) => name === tool.name);
    const result = await read(submitted ? submitted.input : jsonIn(answer.text));
    if ('value' in result) return result.value;
    ({ problem } = result);
    const words = `That cannot be used: ${problem} Call ${tool.name} once more, with the whole.`;
    messages.push(...answer.messages);
    kept = messages.length;
    for (const { id, name } of answer.toolCalls)
      messages.push({
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: id,
            toolName: name,
            output: { type: 'text', value: name === tool.name ? words : 'not run' },
          },
        ],
      });
    if (answer.toolCalls.length === 0) messages.push({ role: 'user', content: words });
  }
  throw invalidDraft(model.name, problem);
}
