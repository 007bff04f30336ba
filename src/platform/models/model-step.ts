import type { TokenUsage } from './calls/model-call.ts';

/** One call of a model or a tool, as it is stored. `entity` is what the call is about. `sent` holds the messages added since the previous step. */
export type ModelStep = {
  kind: 'plan' | 'call' | 'tool';
  entity: string;
  at: string;
  ms: number;
  model: string;
  tokens: TokenUsage;
  costUsd: number;
  sent?: unknown;
  text?: string;
  toolCalls?: unknown;
  tool?: { name: string; input: unknown; output: string; simulated: boolean; failed: boolean };
  error?: string;
};
