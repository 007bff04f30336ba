import type { ToolDeclaration, TokenUsage } from './model-request.ts';

/**
 * `send` means that data chosen by the model leaves this machine: an administrator must grant the tool, and a sandbox only
 * simulates it. `propose` means that a person decides later whether it happens, so that only response agents have such tools.
 */
export type ToolEffect = 'read' | 'send' | 'propose';

/**
 * Where the results of a tool come from. `case`: the rows of the case itself. `events`: the logs. `records`: notes, lists and hits of the organization. `reference`: what the product
 * ships, or the names of datasets. `outside`: anyone else, such as the publishers of feed items and the servers of tools.
 */
export type ResultSource = 'case' | 'events' | 'records' | 'reference' | 'outside';

/** A tool that a model can call. `parse` validates the model's input for `run`. `source` is where its results come from. */
export type ModelTool = ToolDeclaration & {
  effect: ToolEffect;
  source: ResultSource;
  /** Another system wrote the description of the tool, so offering the tool is enough for the model to read its text. */
  isForeign?: boolean;
  parse: (input: Record<string, unknown>) => { input: unknown } | { problem: string };
  run: (input: unknown, signal: AbortSignal) => Promise<unknown>;
};

/**
 * One call of a model or a tool, as it is stored. `entity` is what the call is about. `alias` and `model` are those that
 * answered, which may be a fallback. `sent` has the messages added since the previous step.
 */
export type ModelStep = {
  kind: 'plan' | 'call' | 'tool';
  entity: string;
  at: string;
  ms: number;
  alias?: string;
  model: string;
  tokens: TokenUsage;
  /** Null if the model has no price. */
  costUsd: number | null;
  sent?: unknown;
  text?: string;
  toolCalls?: unknown;
  tool?: { name: string; input: unknown; output: string; simulated: boolean; failed: boolean };
  /** What the call of a tool found. */
  observation?: unknown;
  error?: string;
};
