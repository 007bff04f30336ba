import type { ConfiguredModel } from '../../../platform/models/models.ts';
import type { ModelTool } from '../../../platform/models/model-tool.ts';
import type { SpendMeter } from '../../../platform/models/spend-meter.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { ContextDoc } from './context-docs.ts';
import type { EntityContext } from './entity-context.ts';
import type { VerdictOutput } from './verdict-output.ts';

/** The instructions of a detection's author to the model. `customInstructions` come from the request of the run. */
export type JudgeDefinition = {
  name: string;
  description: string;
  detectionCategory: string;
  detectionQuery: string;
  systemPrompt: string;
  planningMode: 'auto' | 'never' | 'always';
  mode: 'standard' | 'sandbox';
  customInstructions: string | null;
  contextDocs?: readonly ContextDoc[];
};

/** One entity to judge. */
export type JudgeTask = SpendMeter & {
  model: ConfiguredModel;
  definition: JudgeDefinition;
  candidate: Candidate;
  context?: EntityContext | undefined;
  output: VerdictOutput;
  tools: readonly ModelTool[];
  stepsMax: number;
  signal: AbortSignal;
};

export const submitTool = 'submit_verdict';
export const submitAllTool = 'submit_verdicts';
export const planTool = 'write_plan';
