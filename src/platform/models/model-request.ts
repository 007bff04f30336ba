import type { ModelMessage } from 'ai';
import { z } from 'zod';

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
