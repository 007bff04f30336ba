import type { ModelMessage } from 'ai';
import { z } from 'zod';

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
 * One call of a model or a tool, as it is stored. `entity` is what the call is about, and `candidateId` the candidate of a detection. `alias` and
 * `model` are those that answered, which may be a fallback. `sent` has the messages added since the previous step.
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
  candidateId?: string;
};

/**
 * How a model submits a structured answer: as the input of a tool that it must call, as text that the provider forces into a JSON schema, or
 * as JSON in plain text, which no server has to support. In this order they are tried until an alias is known better.
 */
export const OutputWay = z.enum(['tool', 'schema', 'text']);
export type OutputWay = z.infer<typeof OutputWay>;

export type ToolDeclaration = { name: string; description: string; inputSchema: Record<string, unknown> };

/**
 * One request. With `forcedTool` the model must answer now, with the input of that tool. `answerTool` is the tool that ends the
 * conversation: a model without tools is asked for its input as JSON. Default: the forced tool, or the only tool.
 */
export type ModelRequest = {
  system: string;
  messages: ModelMessage[];
  tools: readonly ToolDeclaration[];
  forcedTool?: string | undefined;
  answerTool?: string | undefined;
  /** Tries this way alone, instead of those of the alias in their order. */
  outputWay?: OutputWay | undefined;
  /** Default: that of the entry. */
  maxOutputTokens?: number | undefined;
  /** The call finds out what the alias can do, so that its failure is not news. */
  isProbe?: boolean;
  signal: AbortSignal;
};

/**
 * The tokens of a call. `cached` of the input tokens came from the provider's prompt cache, and `cacheWritten` of them were stored
 * there. Providers charge both at a price of their own. `isEstimate`: the provider reports none.
 */
export type TokenUsage = {
  input: number;
  output: number;
  cached?: number;
  cacheWritten?: number;
  isEstimate?: true;
};

export const noTokens: TokenUsage = { input: 0, output: 0 };

/** Adds the tokens of two requests. */
export function addTokens(a: TokenUsage, b: TokenUsage): TokenUsage {
  const sum = (x = 0, y = 0): number => x + y;
  const [cached, cacheWritten] = [sum(a.cached, b.cached), sum(a.cacheWritten, b.cacheWritten)];
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(cached > 0 ? { cached } : {}),
    ...(cacheWritten > 0 ? { cacheWritten } : {}),
    ...(a.isEstimate || b.isEstimate ? { isEstimate: true } : {}),
  };
}

/** `input` is undefined for a tool call whose arguments are not a JSON object. */
export type ModelResponse = {
  text: string;
  toolCalls: { id: string; name: string; input: Record<string, unknown> | undefined }[];
  messages: ModelMessage[];
  tokens: TokenUsage;
  ms: number;
};

export type ModelCall = (request: ModelRequest) => Promise<ModelResponse>;

const charsPerToken = 4;

/** Estimates the tokens of a value that a model reads or writes. */
export const estimateTokens = (value: unknown): number => Math.ceil(JSON.stringify(value).length / charsPerToken);
