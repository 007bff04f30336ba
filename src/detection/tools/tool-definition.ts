import { z } from 'zod';
import type { ModelTool, TextOrigin, ToolEffect } from '../../platform/models/model-tool.ts';
import type { ToolSources } from './tool-sources.ts';

/** A built-in tool: its description for the model, its input and its implementation. */
export type ToolDefinition<Input = unknown> = {
  description: string;
  input: z.ZodType<Input>;
  effect: ToolEffect;
  /** `get_rows` returns the rows of the case, which have rules of their own, so it adds nothing from outside. */
  origin: TextOrigin;
  // Declared as a method, so that definitions with different inputs fit into one registry.
  run(input: Input, sources: ToolSources, signal: AbortSignal): Promise<unknown>;
};

/** Binds a definition to the sources of one entity. */
export function bindToolDefinition<Input>(
  name: string,
  definition: ToolDefinition<Input>,
  sources: ToolSources,
): ModelTool {
  const { $schema: _, ...inputSchema } = z.toJSONSchema(definition.input, { io: 'input' }) as Record<string, unknown>;
  return {
    name,
    description: definition.description,
    inputSchema,
    effect: definition.effect,
    origin: definition.origin,
    parse: (input) => {
      const parsed = definition.input.safeParse(input);
      if (parsed.success) return { input: parsed.data };
      return { problem: parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('; ') };
    },
    run: (input, signal) => definition.run(input as Input, sources, signal),
  };
}
