import type { ToolDeclaration } from './calls/model-call.ts';

/**
 * `send` means that data chosen by the model leaves this machine: an administrator must grant the tool, and a sandbox only
 * simulates it.
 */
export type ToolEffect = 'read' | 'send';

/** A tool that a model can call. `parse` validates the model's input for `run`. */
export type ModelTool = ToolDeclaration & {
  effect: ToolEffect;
  parse: (input: Record<string, unknown>) => { input: unknown } | { problem: string };
  run: (input: unknown, signal: AbortSignal) => Promise<unknown>;
};
