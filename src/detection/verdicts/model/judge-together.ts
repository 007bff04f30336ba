import { createDelimiter } from '../../../platform/models/ask-model.ts';
import { invalidVerdictError } from '../../../platform/models/model-error.ts';
import { callMetered } from '../../../platform/models/metered-call.ts';
import { findAnswer } from '../../../platform/models/calls/structured-output.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import { isSeverityAtLeast } from '../../analysis/severity.ts';
import type { Verdict } from '../verdict.ts';
import type { EntityContext } from './entity-context.ts';
import { findEvidenceProblem } from './evidence-repair.ts';
import { renderCasePrompt, renderSystemPrompt } from './judge-prompt.ts';
import { submitAllTool, type JudgeDefinition, type JudgeTask } from './judge-task.ts';
import { withoutOutsideText } from '../planted-text/outside-text.ts';
import { screenCandidate } from '../planted-text/screen-candidate.ts';
import type { VerdictOutput } from './verdict-output.ts';

/** The most entities that one call judges. */
export const togetherMax = 5;
const smallCharsMax = 4_000;
const entityLabelMax = 1_000;

/** Several entities to judge in one call. The call uses no tools. */
export type JudgeTogetherTask = Omit<JudgeTask, 'candidate' | 'context' | 'tools' | 'stepsMax'> & {
  cases: { candidate: Candidate; context: EntityContext }[];
};

/** Returns whether verdicts of a detection can come from one call: it uses no tools, no plan and no output of its own. */
export function allowsTogether(
  { planningMode }: JudgeDefinition,
  tools: readonly string[],
  ownSchema: unknown,
): boolean {
  return tools.length === 0 && planningMode !== 'always' && ownSchema === null;
}

/**
 * Returns whether a candidate can share a call: it has few rows, is below severity high, and its rows have no text addressed to a
 * model and no free text of outsiders, which could influence the verdicts on the others.
 */
export function isSmallCase(candidate: Candidate): boolean {
  const { rows, severity } = candidate;
  return (
    !isSeverityAtLeast(severity, 'high') &&
    JSON.stringify(rows).length <= smallCharsMax &&
    screenCandidate(candidate).planted.length === 0 &&
    withoutOutsideText(candidate) === undefined
  );
}

/**
 * Lets a model judge several entities in one call. Returns the verdicts in the order of the cases. A verdict that is missing, not
 * valid or without evidence in the entity's own rows is undefined: that entity has to be judged alone. Throws a ModelError.
 */
export async function judgeTogether(task: JudgeTogetherTask): Promise<(Verdict | undefined)[]> {
  const { model, definition, cases, output, signal } = task;
  const system = renderSystemPrompt(definition, 'several');
  const texts = cases.map(({ candidate, context }, index) => {
    const customInstructions = index === 0 ? definition.customInstructions : null;
    // Every case has its own delimiter, so that no row can end its case and begin another one.
    return `Case ${index + 1} of ${cases.length}.\n${renderCasePrompt(candidate, createDelimiter(), { customInstructions, context })}`;
  });
  const messages = [{ role: 'user' as const, content: texts.join('\n\n') }];
  const entity = cases
    .map(({ candidate }) => candidate.entity)
    .join(', ')
    .slice(0, entityLabelMax);
  const tool = declareSubmitAll(output);
  const request = { system, messages, tools: [tool], forcedTool: tool.name, signal };
  const response = await callMetered(task, { kind: 'call', subject: entity, request });
  const submitted = (findAnswer(response, tool) as { verdicts?: unknown } | undefined)?.verdicts;
  if (!Array.isArray(submitted)) throw invalidVerdictError(model.name, 'there is no list of verdicts');
  return cases.map(({ candidate }, index) => readVerdict(task, candidate, findCase(submitted, index + 1)));
}

function declareSubmitAll({ schema }: VerdictOutput) {
  const { properties, required, ...rest } = schema as { properties: object; required: string[] };
  const items = { ...rest, properties: { case: { type: 'integer' }, ...properties }, required: ['case', ...required] };
  return {
    name: submitAllTool,
    description: 'Submits one verdict per case, by the number of the case.',
    inputSchema: {
      type: 'object',
      properties: { verdicts: { type: 'array', items } },
      required: ['verdicts'],
      additionalProperties: false,
    },
  };
}

/** Returns the submission for a case. Two submissions for one case count as none. */
function findCase(submitted: unknown[], number: number): unknown {
  const own = submitted.filter((item) => (item as { case?: unknown } | null)?.case === number);
  return own.length === 1 ? own[0] : undefined;
}

function readVerdict(
  { definition, output }: JudgeTogetherTask,
  candidate: Candidate,
  submission: unknown,
): Verdict | undefined {
  if (submission === undefined) return undefined;
  const { case: _, ...input } = submission as Record<string, unknown>;
  const result = output.read(input);
  if ('problem' in result || findEvidenceProblem(result.verdict, candidate, definition)) return undefined;
  const trace = { repaired: false, recited: false, toolCalls: 0, toolFaults: 0, instructions: 0 };
  return { ...result.verdict, trace };
}
