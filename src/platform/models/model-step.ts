/** One thing that a model or a tool did, as it is kept. `sent`: the messages that are new since the step before. */
export type Step = {
  kind: 'plan' | 'call' | 'tool';
  entity: string;
  at: string;
  ms: number;
  model: string;
  tokens: { input: number; output: number };
  costUsd: number;
  sent?: unknown;
  text?: string;
  toolCalls?: unknown;
  tool?: { name: string; input: unknown; output: string; simulated: boolean; failed: boolean };
  error?: string;
};
