import { z } from 'zod';
import type { ToolSources } from './tool-sources.ts';

/** `send`: bytes that the model had a say in leave this machine; an administrator has to allow it, and a sandbox only pretends. */
export type Effect = 'read' | 'send';

/** One tool: what a model is told, what it takes, what it does with the functions that it is given. */
export type Tool<Input = unknown> = {
  description: string;
  input: z.ZodType<Input>;
  effect: Effect;
  // As a method, so that a tool of any input stands in the registry.
  run(input: Input, sources: ToolSources, signal: AbortSignal): Promise<unknown>;
};

/** A tool that is bound to one entity and may be called. */
export type ReadyTool = {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  effect: Effect;
  read: (input: Record<string, unknown>) => { input: unknown } | { problem: string };
  run: (input: unknown, signal: AbortSignal) => Promise<unknown>;
};

export function readyTool<Input>(name: string, tool: Tool<Input>, sources: ToolSources): ReadyTool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(tool.input, { io: 'input' }) as Record<string, unknown>;
  return {
    name,
    description: tool.description,
    inputSchema,
    effect: tool.effect,
    read: (given) => {
      const parsed = tool.input.safeParse(given);
      if (parsed.success) return { input: parsed.data };
      return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
    },
    run: (input, signal) => tool.run(input as Input, sources, signal),
  };
}
