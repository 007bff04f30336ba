import { hash } from 'node:crypto';
import { escapeInvisible, truncateText } from '../../../platform/lib/text/canonical-text.ts';
import { redactDeep, redactText } from '../../../platform/lib/text/redact.ts';
import type { Delimiter } from '../../../platform/models/ask-model.ts';
import type { ModelResponse, ModelStep, ToolDeclaration } from '../../../platform/models/model-request.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { BoundTool } from '../../tools/tool-definition.ts';
import type { ToolResult } from '../../tools/tool-result.ts';
import type { Observation } from '../observation.ts';
import { type InvestigationTask, type JudgeDefinition, planTool, submitTool } from './task.ts';

export type ToolCall = ModelResponse['toolCalls'][number];

/** The result of a tool call as the model reads it. `observation` is absent if the tool returned nothing. */
export type ToolOutcome = { text: string; outcome: 'done' | 'refused' | 'failed'; observation?: Observation };

/** The tool calls of a step that run at the same time. The others wait. */
const callsAtOnce = 5;
const callsPerStepMax = 30;
const toolMs = 30_000;

/** Declares the tools of an investigation: those of the detection, and the ones that submit and plan. */
export function declareTools({ tools, format, definition }: InvestigationTask): ToolDeclaration[] {
  const submit = {
    name: submitTool,
    description: 'Submits the verdict and ends the case.',
    inputSchema: format.schema,
  };
  return [
    ...tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    submit,
    ...(definition.planningMode === 'auto' ? [planDeclaration] : []),
  ];
}

export const planDeclaration: ToolDeclaration = {
  name: planTool,
  description: 'Records the questions that decide the case, each with the data that would answer it.',
  inputSchema: {
    type: 'object',
    properties: {
      questions: {
        type: 'array',
        items: {
          type: 'object',
          properties: { question: { type: 'string' }, data: { type: 'string' } },
          required: ['question', 'data'],
          additionalProperties: false,
        },
      },
    },
    required: ['questions'],
    additionalProperties: false,
  },
};

/** An investigation that calls tools. `model` is who asks, also if it is no model. */
export type ToolTask = Pick<InvestigationTask, 'tools' | 'recordStep' | 'signal'> & {
  model: { name: string };
  definition: Pick<JudgeDefinition, 'mode'>;
  file: { candidate: Pick<Candidate, 'entity'> };
};

/** What an investigation has found before a step. `callsBefore` counts its calls. */
type Progress = { delimiter: Delimiter; observations: readonly Observation[]; callsBefore: number };

/**
 * Runs the tool calls of one step, a few at a time, and records them in their order. Observations are numbered like the calls of the whole investigation, so that a
 * call without a result leaves a gap.
 */
export async function runToolCalls(
  task: ToolTask,
  calls: readonly ToolCall[],
  progress: Progress,
): Promise<ToolOutcome[]> {
  const runs: { outcome: ToolOutcome; step: ModelStep }[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let index = next++; index < calls.length; index = next++)
      runs[index] = await runCall(task, calls[index]!, index, progress);
  };
  await Promise.all(Array.from({ length: Math.min(callsAtOnce, calls.length) }, work));
  for (const { step } of runs) await task.recordStep(step);
  return runs.map(({ outcome }) => outcome);
}

async function runCall(
  task: ToolTask,
  call: ToolCall,
  index: number,
  progress: Progress,
): Promise<{ outcome: ToolOutcome; step: ModelStep }> {
  const startedAt = performance.now();
  const at = new Date().toISOString();
  const tool = task.tools.find(({ name }) => name === call.name);
  const simulated = tool !== undefined && tool.effect !== 'read' && task.definition.mode === 'sandbox';
  const id = `o${progress.callsBefore + index + 1}`;
  const outcome: ToolOutcome = simulated
    ? { text: 'Simulated: the sandbox sends nothing.', outcome: 'done' }
    : index >= callsPerStepMax
      ? refuse(`A step can make at most ${callsPerStepMax} calls. Call the tool again.`)
      : await runTool(task, call, { tool, id, at, progress });
  const step: ModelStep = {
    kind: 'tool',
    entity: task.file.candidate.entity,
    at,
    ms: Math.round(performance.now() - startedAt),
    model: task.model.name,
    tokens: { input: 0, output: 0 },
    costUsd: 0,
    tool: {
      name: call.name,
      input: redactDeep(call.input ?? null),
      output: outcome.text,
      simulated,
      failed: outcome.outcome !== 'done',
    },
    ...(outcome.observation && { observation: outcome.observation }),
  };
  return { outcome, step };
}

const refuse = (text: string): ToolOutcome => ({ text, outcome: 'refused' });

type ToolRun = { tool: BoundTool | undefined; id: string; at: string; progress: Progress };

async function runTool(task: ToolTask, call: ToolCall, { tool, id, at, progress }: ToolRun): Promise<ToolOutcome> {
  if (!tool) return refuse('This tool is not allowed.');
  const parsed = call.input === undefined ? undefined : tool.parse(call.input);
  if (!parsed) return refuse('The input is not a JSON object.');
  if ('problem' in parsed) return refuse(`The input is not valid: ${parsed.problem}`);
  const { delimiter, observations } = progress;
  try {
    const startedAt = performance.now();
    const signal = AbortSignal.any([task.signal, AbortSignal.timeout(toolMs)]);
    const result = await tool.run(parsed.input, signal, observations);
    // They can be cited as rows already.
    if (tool.source === 'case') return { text: renderResult('rows', result, delimiter), outcome: 'done' };
    const ms = Math.round(performance.now() - startedAt);
    const observation = toObservation({ id, tool, source: tool.source, input: parsed.input, at, ms }, result);
    return { text: renderResult(id, result, delimiter), outcome: 'done', observation };
  } catch (error) {
    task.signal.throwIfAborted();
    const reason = redactText(error instanceof Error ? error.message : String(error));
    return { text: delimiter.wrap(`failed: ${truncateText(escapeInvisible(reason), 500)}`), outcome: 'failed' };
  }
}

const observationCharsMax = 120_000;

/** Renders what the model needs to cite a result and to ask further. */
const renderResult = (
  observation: string,
  { columns, rows, total, truncated, hasEvents, note }: ToolResult,
  { wrap }: Delimiter,
): string =>
  wrap(
    { observation, columns, rows, total, truncated, hasEvents, ...(note === undefined ? {} : { note }) },
    observationCharsMax,
  );

type ObservedCall = Pick<Observation, 'id' | 'source' | 'at' | 'ms'> & {
  tool: Pick<BoundTool, 'name' | 'isTrusted'>;
  input: unknown;
};

/** Returns the observation that a tool call made. Its rows are rendered and bounded already. */
export const toObservation = (
  { id, tool: { name, isTrusted }, source, input, at, ms }: ObservedCall,
  { query, from, to, columns, rows, total, truncated, hasEvents }: ToolResult,
): Observation => ({
  id,
  tool: name,
  input: redactDeep(input ?? null),
  query,
  from: from?.toISOString() ?? null,
  to: to?.toISOString() ?? null,
  columns,
  rows,
  total,
  truncated,
  hasEvents,
  source,
  isTrusted,
  at,
  ms,
  hash: hash('sha256', JSON.stringify(rows)),
});
