import type { ConfiguredModel } from '../../../platform/models/models.ts';
import type { ModelTool } from '../../../platform/models/model-tool.ts';
import type { SpendMeter } from '../../../platform/models/spending/spend-meter.ts';
import type { Candidate } from '../../analysis/candidate.ts';
import type { VerdictOutput } from './verdict-output.ts';

/** What a detection's author tells the model. `customInstructions` come from the request of the run. */
export type JudgeDefinition = {
  name: string;
  description: string;
  detectionCategory: string;
  detectionQuery: string;
  systemPrompt: string;
  planningMode: 'auto' | 'never' | 'always';
  mode: 'standard' | 'sandbox';
  customInstructions: string | null;
};

/** One entity to judge. */
export type JudgeTask = SpendMeter & {
  model: ConfiguredModel;
  definition: JudgeDefinition;
  candidate: Candidate;
  output: VerdictOutput;
  tools: readonly ModelTool[];
  stepsMax: number;
  signal: AbortSignal;
};

export const submitTool = 'submit_verdict';
export const planTool = 'write_plan';
