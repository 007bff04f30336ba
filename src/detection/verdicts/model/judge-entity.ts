import type { ModelMessage } from 'ai';
import { createDelimiter, type Delimiter, toolResult } from '../../../platform/models/ask-model.ts';
import { parseAnswer } from '../../../platform/models/calls/structured-output.ts';
import { callMetered } from '../../../platform/models/metered-call.ts';
import type { ModelResponse } from '../../../platform/models/model-request.ts';
import {
  invalidVerdictError,
  tooManyStepsError,
  unsupportedEvidenceError,
} from '../../../platform/models/model-error.ts';
import { holdsPlantedOrder } from '../planted-text/screen-output.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import type { Verdict, VerdictTrace } from '../verdict.ts';
import { hasOutsideText } from './entity-context.ts';
import { describeEvidenceProblem, findEvidenceProblem } from './evidence-repair.ts';
import { renderCasePrompt, renderSystemPrompt } from './judge-prompt.ts';
import { planTool, submitTool, type JudgeTask } from './judge-task.ts';
import { createToolbox, isRefused, type Toolbox } from './toolbox.ts';
import type { SubmissionResult } from './verdict-output.ts';

type Conversation = {
  task: JudgeTask;
  system: string;
  messages: ModelMessage[];
  /** How many of the messages are already recorded in steps. */
  recordedCount: number;
  delimiter: Delimiter;
  toolbox: Toolbox;
  trace: VerdictTrace;
};

/**
 * Lets a model judge one entity in its own conversation: a plan, tool calls, and one verdict with one chance to repair its form and
 * one to repair its evidence. Throws a ModelError or the signal's reason. The verdict is not yet verified against the rows.
 */
export async function judgeEntity(task: JudgeTask): Promise<Verdict> {
  const conversation = startConversation(task);
  const plansFirst = task.definition.planningMode === 'always';
  if (plansFirst) await writePlan(conversation);
  const { trace } = conversation;
  const countRepairs = (): number => Number(trace.repaired) + Number(trace.recited);
  for (let step = plansFirst ? 2 : 1; step <= task.stepsMax + countRepairs(); step++) {
    const mustSubmit = step >= task.stepsMax || countRepairs() > 0;
    const response = await callModel(conversation, 'call', mustSubmit ? submitTool : undefined);
    const verdict = await handleResponse(conversation, response);
    if (verdict) return { ...verdict, trace };
  }
  throw tooManyStepsError(task.stepsMax);
}

function startConversation(task: JudgeTask): Conversation {
  const delimiter = createDelimiter();
  const instructions = screenCandidate(task.candidate).planted.length;
  const trace: VerdictTrace = { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions };
  if (task.context && hasOutsideText(task.context)) addOutside(trace, ['feed']);
  addOutside(
    trace,
    task.tools.flatMap(({ name, isForeign }) => (isForeign ? name : [])),
  );
  return {
    task,
    system: renderSystemPrompt(task.definition),
    messages: [
      {
        role: 'user',
        content: renderCasePrompt(task.candidate, delimiter, {
          customInstructions: task.definition.customInstructions,
          context: task.context,
        }),
      },
    ],
    recordedCount: 0,
    delimiter,
    toolbox: createToolbox(task, delimiter),
    trace,
  };
}

function addOutside(trace: VerdictTrace, sources: readonly string[]): void {
  if (sources.length > 0) trace.outside = [...new Set([...(trace.outside ?? []), ...sources])];
}

async function writePlan(conversation: Conversation): Promise<void> {
  const { messages } = conversation;
  messages.push({ role: 'user', content: 'First write a short plan for judging it. Do not call a tool yet.' });
  await callModel(conversation, 'plan', undefined);
  messages.push({ role: 'user', content: `Now carry out the plan, and end with ${submitTool}.` });
}

async function callModel(
  conversation: Conversation,
  kind: 'plan' | 'call',
  forcedTool: string | undefined,
): Promise<ModelResponse> {
  const { task, system, messages, toolbox, recordedCount } = conversation;
  const tools = kind === 'plan' ? [] : toolbox.declarations;
  const request = { system, messages, tools, forcedTool, answerTool: submitTool, signal: task.signal };
  const subject = task.candidate.entity;
  const response = await callMetered(task, { kind, subject, request, sentFrom: recordedCount });
  messages.push(...response.messages);
  conversation.recordedCount = messages.length;
  return response;
}

/** Returns the verdict if the response contains a valid one. Otherwise runs its tool calls, and the conversation continues. */
async function handleResponse(
  conversation: Conversation,
  { toolCalls, text }: ModelResponse,
): Promise<Verdict | undefined> {
  const { output } = conversation.task;
  const submission = toolCalls.find(({ name }) => name === submitTool);
  if (submission) return acceptOrRepair(conversation, output.read(submission.input), toolCalls);
  if (toolCalls.length === 0)
    return acceptOrRepair(conversation, output.read(parseAnswer(text, output.schema['required'] as string[])), []);
  for (const [index, call] of toolCalls.entries()) {
    const result = await conversation.toolbox.run(call, index);
    if (call.name !== planTool) conversation.trace.toolCalls += 1;
    if (isRefused(result)) conversation.trace.toolFaults += 1;
    if (holdsPlantedOrder(result.text))
      conversation.trace.plantedTools = [...(conversation.trace.plantedTools ?? []), call.name];
    const isOutside = conversation.task.tools.some(({ name, origin }) => name === call.name && origin === 'outside');
    if (isOutside && !isRefused(result)) addOutside(conversation.trace, [call.name]);
    conversation.messages.push(toolResult(call.id, call.name, result.text));
  }
  return undefined;
}

/**
 * Returns a valid verdict. A verdict with a wrong form, and a triggered one without evidence in the rows, go back to the model once
 * each. The second such verdict is an error. A model whose evidence failed cannot withdraw the verdict instead.
 */
function acceptOrRepair(
  { task, trace, messages, delimiter }: Conversation,
  submission: SubmissionResult,
  calls: ModelResponse['toolCalls'],
): Verdict | undefined {
  const { model, candidate, definition } = task;
  const sendBack = (correction: string): undefined => {
    for (const { id, name } of calls) messages.push(toolResult(id, name, name === submitTool ? correction : 'not run'));
    if (calls.length === 0) messages.push({ role: 'user', content: correction });
  };
  if ('problem' in submission) {
    if (trace.recited) throw unsupportedEvidenceError(model.name, submission.problem);
    if (trace.repaired) throw invalidVerdictError(model.name, submission.problem);
    trace.repaired = true;
    return sendBack(
      `This verdict is not valid: ${submission.problem}. Call ${submitTool} again with the complete verdict.`,
    );
  }
  const { verdict } = submission;
  if (trace.recited && !verdict.triggered) throw unsupportedEvidenceError(model.name, 'the verdict was withdrawn');
  const problem = findEvidenceProblem(verdict, candidate, definition);
  if (!problem) return verdict;
  if (trace.recited) throw unsupportedEvidenceError(model.name, problem.failed.join('; ') || 'no evidence');
  trace.recited = true;
  return sendBack(describeEvidenceProblem(problem, delimiter.wrap, submitTool));
}
