import type { ModelMessage } from 'ai';
import type { Candidate } from '../../analysis/candidate.ts';
import type { ReadyTool } from '../../tools/tool.ts';
import type { ModelAnswer } from '../../../platform/models/model-call.ts';
import { createDelimit } from '../../../platform/models/delimit.ts';
import { findInstructions } from './planted-instructions.ts';
import { jsonIn } from '../../../platform/models/extract-json.ts';
import { budgetExceeded, invalidVerdict } from '../../../platform/models/model-error.ts';
import { costOf, type ModelRef } from '../../../platform/models/models.ts';
import { casePrompt, planTool, redacted, submitTool, systemPrompt, type AgentDefinition } from './judge-prompt.ts';
import type { Step } from '../../../platform/models/model-step.ts';
import { createToolbox, isFaulty, type Toolbox } from './toolbox.ts';
import type { Verdict, VerdictTrace } from '../verdict.ts';
import type { Submitted, VerdictOutput } from './verdict-output.ts';

/** One entity to judge. `admit` throws when a budget is used up, `record` keeps a step before the next begins. */
export type AgentTask = {
  model: ModelRef;
  definition: AgentDefinition;
  candidate: Candidate;
  output: VerdictOutput;
  tools: readonly ReadyTool[];
  stepsMax: number;
  admit: () => Promise<void>;
  record: (step: Step) => Promise<void>;
  signal: AbortSignal;
};

type Talk = {
  task: AgentTask;
  system: string;
  messages: ModelMessage[];
  /** How many of the messages are in steps already. */
  kept: number;
  toolbox: Toolbox;
  trace: VerdictTrace;
};

type Calls = ModelAnswer['toolCalls'];

/**
 * Lets a model judge one entity in a context of its own: plan, tools, one verdict by schema with one repair. Throws a
 * ModelError, or the signal's reason. What comes back is not yet held against the rows.
 */
export async function judgeEntity(task: AgentTask): Promise<Verdict> {
  const talk = begin(task);
  const { planningMode } = task.definition;
  if (planningMode === 'always') await plan(talk);
  for (let step = planningMode === 'always' ? 2 : 1; step <= task.stepsMax; step++) {
    const isForced = step === task.stepsMax || talk.trace.repaired;
    const answer = await ask(talk, { kind: 'call', forced: isForced ? submitTool : undefined });
    const verdict = await take(talk, answer);
    if (verdict) return { ...verdict, trace: talk.trace };
  }
  throw budgetExceeded(`The budget of ${task.stepsMax} steps of an entity is used up.`);
}

function begin(task: AgentTask): Talk {
  const delimit = createDelimit();
  return {
    task,
    system: systemPrompt(task.definition, delimit),
    messages: [{ role: 'user', content: casePrompt(task.candidate, delimit) }],
    kept: 0,
    toolbox: createToolbox(task, delimit),
    trace: { repaired: false, toolCalls: 0, toolFaults: 0, instructions: findInstructions(task.candidate.rows).length },
  };
}

async function plan(talk: Talk): Promise<void> {
  talk.messages.push({ role: 'user', content: 'First write a short plan for judging it. Call no tool yet.' });
  await ask(talk, { kind: 'plan', forced: undefined });
  talk.messages.push({ role: 'user', content: `Now carry it out, and end with ${submitTool}.` });
}

async function ask(
  talk: Talk,
  { kind, forced }: { kind: Step['kind']; forced: string | undefined },
): Promise<ModelAnswer> {
  const { task, system, messages, toolbox } = talk;
  await task.admit();
  task.signal.throwIfAborted();
  const sent = talk.kept === 0 ? [{ role: 'system', content: system }, ...messages] : messages.slice(talk.kept);
  const begun = performance.now();
  const step = { kind, entity: task.candidate.entity, at: new Date().toISOString(), model: task.model.name, sent };
  try {
    const tools = kind === 'plan' ? [] : toolbox.offers;
    const answer = await task.model.call({ system, messages, tools, forced, signal: task.signal });
    messages.push(...answer.messages);
    talk.kept = messages.length;
    const { tokens, text, toolCalls, ms } = answer;
    await task.record({
      ...step,
      ms,
      tokens,
      costUsd: costOf(task.model, tokens),
      text,
      toolCalls: redacted(toolCalls),
    });
    return answer;
  } catch (error) {
    if (!task.signal.aborted) {
      const ms = Math.round(performance.now() - begun);
      await task.record({ ...step, ms, tokens: { input: 0, output: 0 }, costUsd: 0, error: String(error) });
    }
    throw error;
  }
}

/** The verdict, if the answer holds a valid one; else its tools have run and the conversation goes on. */
async function take(talk: Talk, answer: ModelAnswer): Promise<Verdict | undefined> {
  const { output } = talk.task;
  const submitted = answer.toolCalls.find(({ name }) => name === submitTool);
  if (submitted) return settle(talk, output.read(submitted.input), answer.toolCalls);
  if (answer.toolCalls.length === 0) return settle(talk, output.read(jsonIn(answer.text)), []);
  for (const [index, call] of answer.toolCalls.entries()) {
    const result = await talk.toolbox.use(call, index);
    if (call.name !== planTool) talk.trace.toolCalls += 1;
    if (isFaulty(result)) talk.trace.toolFaults += 1;
    reply(talk, call, result.text);
  }
  return undefined;
}

/** One repair is granted: the problem goes back to the model, and the next answer has to be a verdict. */
function settle(talk: Talk, read: Submitted, calls: Calls): Verdict | undefined {
  if ('verdict' in read) return read.verdict;
  if (talk.trace.repaired) throw invalidVerdict(talk.task.model.name, read.problem);
  talk.trace.repaired = true;
  const problem = `That is no valid verdict: ${read.problem}. Call ${submitTool} once more, with the whole verdict.`;
  for (const call of calls) reply(talk, call, call.name === submitTool ? problem : 'not run');
  if (calls.length === 0) talk.messages.push({ role: 'user', content: problem });
  return undefined;
}

function reply(talk: Talk, { id, name }: Calls[number], text: string): void {
  talk.messages.push({
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId: id, toolName: name, output: { type: 'text', value: text } }],
  });
}
