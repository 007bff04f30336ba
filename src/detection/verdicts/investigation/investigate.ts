import type { ModelMessage } from 'ai';
import { createDelimiter, type Delimiter, toolResult, callMetered } from '../../../platform/models/ask-model.ts';
import { parseAnswer } from '../../../platform/models/calls/structured-output.ts';
import type { ModelResponse } from '../../../platform/models/model-request.ts';
import { invalidVerdictError, tooManyStepsError } from '../../../platform/models/model-error.ts';
import type { CaseFile } from '../claims/case-file.ts';
import { checkClaims, checkHeadline, provesEvent, type ClaimCheck } from '../claims/check-claims.ts';
import type { Observation } from '../observation.ts';
import { isUnverified, type Conclusion, type Submission } from '../verdict.ts';
import { describeRepair, renderCasePrompt, renderSystemPrompt } from './prompt.ts';
import type { PlanAnswer, SubmissionResult } from './submission.ts';
import { planTool, submitTool, type InvestigationTask, type IsEstablished } from './task.ts';
import { declareTools, planDeclaration, runToolCalls } from './toolbox.ts';
import { verifyClaims } from './ask-verifier.ts';

/** A question of the plan. `observation` is the one that answered it, or showed that there are no data for it. */
export type PlannedQuestion = { question: string; data: string; observation: string | null };

/**
 * How an investigation went, for the score. `isRepaired`: its first submission had a wrong form or proved nothing. `wasted` counts tool calls that were
 * refused or repeated. `submitted` is the conclusion before its proof was looked at.
 */
export type InvestigationTrace = {
  questions: PlannedQuestion[];
  hasTools: boolean;
  isRepaired: boolean;
  toolCalls: number;
  wasted: number;
  submitted: Conclusion;
};

/** What an investigation submitted and found. `isEstablished` knows the values that a dismissal cites. */
export type Investigation = {
  submission: Submission;
  checks: ClaimCheck[];
  headline: ClaimCheck;
  isEstablished: IsEstablished;
  observations: Observation[];
  trace: InvestigationTrace;
};

type Conversation = {
  task: InvestigationTask;
  system: string;
  messages: ModelMessage[];
  /** How many of the messages are already recorded in steps. */
  recordedCount: number;
  delimiter: Delimiter;
  observations: Observation[];
  /** What was sent back: a wrong form, and a raise without proof, once each. */
  repairs: Set<'form' | 'proof'>;
  /** The tool calls so far, to notice repeated ones. */
  calledBefore: Set<string>;
  trace: InvestigationTrace;
};

/**
 * Lets a model investigate one candidate in a conversation of its own: a plan, tool calls whose results become observations, and one submission with
 * claims, which are checked. A submission of a wrong form, and a raise that no claim proves, go back once. Throws a ModelError or the signal's reason.
 */
export async function investigate(task: InvestigationTask): Promise<Investigation> {
  const conversation = startConversation(task);
  const { trace, observations, repairs } = conversation;
  const plansFirst = task.definition.planningMode === 'always';
  if (plansFirst) await writePlan(conversation);
  for (let step = plansFirst ? 2 : 1; step <= task.stepsMax + repairs.size; step++) {
    const mustSubmit = step >= task.stepsMax || repairs.size > 0;
    const response = await callModel(conversation, 'call', mustSubmit ? submitTool : undefined);
    const submitted = readSubmission(task, response);
    if (submitted === undefined) {
      await runTools(conversation, response);
      continue;
    }
    const accepted = await acceptOrRepair(conversation, submitted, response.toolCalls);
    if (accepted) return { ...accepted, observations, trace };
  }
  throw tooManyStepsError(task.stepsMax);
}

function startConversation(task: InvestigationTask): Conversation {
  const delimiter = createDelimiter();
  return {
    task,
    system: renderSystemPrompt(task.definition),
    messages: [
      {
        role: 'user',
        content: renderCasePrompt(
          { ...task.file, observations: task.observedBefore ?? [] },
          delimiter,
          task.definition,
        ),
      },
    ],
    recordedCount: 0,
    delimiter,
    observations: [...(task.observedBefore ?? [])],
    trace: {
      questions: [],
      hasTools: task.tools.length > 0,
      isRepaired: false,
      toolCalls: 0,
      wasted: 0,
      submitted: 'undecided',
    },
    repairs: new Set(),
    calledBefore: new Set(),
  };
}

async function writePlan(conversation: Conversation): Promise<void> {
  const { messages } = conversation;
  messages.push({
    role: 'user',
    content: `First record your plan with ${planTool}: the questions that decide the case, each with the data that would answer it.`,
  });
  const response = await callModel(conversation, 'plan', planTool);
  const call = response.toolCalls.find(({ name }) => name === planTool);
  recordPlan(conversation, call ? call.input : parseAnswer(response.text, ['questions']));
  for (const { id, name } of response.toolCalls)
    messages.push(toolResult(id, name, name === planTool ? 'noted' : 'not run'));
  messages.push({ role: 'user', content: `Now answer the questions, and end with ${submitTool}.` });
}

const questionsMax = 20;
const questionCharsMax = 500;

function recordPlan({ trace }: Conversation, input: unknown): void {
  const { questions } = (typeof input === 'object' && input !== null ? input : {}) as { questions?: unknown };
  if (!Array.isArray(questions)) return;
  const read = questions.slice(0, questionsMax).flatMap((item: { question?: unknown; data?: unknown } | null) =>
    typeof item?.question === 'string' && item.question.trim() !== ''
      ? {
          question: item.question.slice(0, questionCharsMax),
          data: String(item.data ?? '').slice(0, questionCharsMax),
          observation: null,
        }
      : [],
  );
  trace.questions.push(...read.slice(0, questionsMax - trace.questions.length));
}

async function callModel(
  conversation: Conversation,
  kind: 'plan' | 'call',
  forcedTool: string | undefined,
): Promise<ModelResponse> {
  const { task, system, messages, recordedCount } = conversation;
  const tools = kind === 'plan' ? [planDeclaration] : declareTools(task);
  const answerTool = kind === 'plan' ? planTool : submitTool;
  const request = { system, messages, tools, forcedTool, answerTool, signal: task.signal };
  const subject = task.file.candidate.entity;
  const response = await callMetered(task, { kind, subject, request, sentFrom: recordedCount });
  messages.push(...response.messages);
  conversation.recordedCount = messages.length;
  return response;
}

/** Returns what a response submits, in a call or in its text. Returns undefined if it calls other tools. */
function readSubmission(
  { format }: InvestigationTask,
  { toolCalls, text }: ModelResponse,
): SubmissionResult | undefined {
  const call = toolCalls.find(({ name }) => name === submitTool);
  if (call) return format.read(call.input);
  return toolCalls.length === 0 ? format.read(parseAnswer(text, format.schema['required'] as string[])) : undefined;
}

async function runTools(conversation: Conversation, { toolCalls }: ModelResponse): Promise<void> {
  const { task, delimiter, observations, calledBefore, messages, trace } = conversation;
  for (const { name, input } of toolCalls) if (name === planTool) recordPlan(conversation, input);
  const calls = toolCalls.filter(({ name }) => name !== planTool);
  const outcomes = await runToolCalls(task, calls, {
    delimiter,
    observations,
    callsBefore: (task.callsBefore ?? 0) + trace.toolCalls,
  });
  observations.push(...outcomes.flatMap(({ observation }) => observation ?? []));
  trace.toolCalls += calls.length;
  trace.wasted += calls.filter((call, index) => {
    const key = JSON.stringify([call.name, call.input]);
    const isRepeated = calledBefore.has(key);
    calledBefore.add(key);
    return isRepeated || outcomes[index]!.outcome === 'refused';
  }).length;
  const texts = new Map(calls.map((call, index) => [call, outcomes[index]!.text]));
  for (const call of toolCalls) messages.push(toolResult(call.id, call.name, texts.get(call) ?? 'noted'));
}

/**
 * Returns a submission with its checked claims, unless it goes back to the model: one of a wrong form, or a raise without proof. The second submission
 * of a wrong form is an error. The second raise without proof stays as it is.
 */
async function acceptOrRepair(
  conversation: Conversation,
  submitted: SubmissionResult,
  calls: ModelResponse['toolCalls'],
): Promise<Pick<Investigation, 'submission' | 'checks' | 'headline' | 'isEstablished'> | undefined> {
  const { task, trace, repairs, messages } = conversation;
  const sendBack = (problem: 'form' | 'proof', correction: string): undefined => {
    trace.isRepaired = true;
    repairs.add(problem);
    for (const { id, name } of calls) messages.push(toolResult(id, name, name === submitTool ? correction : 'not run'));
    if (calls.length === 0) messages.push({ role: 'user', content: correction });
  };
  if ('problem' in submitted) {
    if (repairs.has('form')) throw invalidVerdictError(task.model.name, submitted.problem);
    return sendBack(
      'form',
      `This verdict is not valid: ${submitted.problem}. Call ${submitTool} again with the complete verdict.`,
    );
  }
  const { submission, answers } = submitted;
  recordAnswers(conversation, answers);
  trace.submitted = submission.verdict;
  const file: CaseFile = { ...task.file, observations: conversation.observations };
  const resolved = checkClaims(submission.claims, file, task);
  const cells = submission.verdict === 'dismiss' ? resolved.flatMap((check) => check.cells) : [];
  const isEstablished = await task.establish(file, cells);
  const checks = await verifyClaims(task, resolved, submission.verdict, isEstablished);
  const isProven = checks.some((check) => provesEvent(check, task.verify !== undefined));
  // Another answer could not be verified either.
  const isOpen = checks.some(({ claim }) => isUnverified(claim));
  if (submission.verdict === 'raise' && !isProven && !isOpen && !repairs.has('proof'))
    return sendBack('proof', describeRepair(checks, file, conversation.delimiter));
  const unverified = checkHeadline(submission.headline, checks, file, task.verify !== undefined);
  const [headline = unverified] = await verifyClaims(task, [unverified], 'raise');
  return { submission, checks, headline, isEstablished };
}

/** Notes which questions of the plan an observation answered. One without rows answers only if there were events to look at. */
function recordAnswers({ trace, observations }: Conversation, answers: readonly PlanAnswer[]): void {
  for (const { question, observation: id } of answers) {
    const observation = observations.find((one) => one.id === id);
    const isAnswer = observation && (observation.rows.length > 0 || observation.hasEvents !== null);
    const planned = trace.questions.find((one) => one.question === question);
    if (planned && isAnswer) planned.observation = id;
  }
}
