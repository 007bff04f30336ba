import { z } from 'zod';
import type { ModelTool, TextOrigin, ToolEffect } from '../../platform/models/model-tool.ts';
import type { RenderedRow } from '../analysis/candidate.ts';

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

/** The functions that tools call. Each is bound to one entity and its organization, so tools themselves have no access to either. */
export type ToolSources = {
  entity: string;
  rows: readonly RenderedRow[];
  history: (limit: number) => Promise<unknown>;
  searchSiem: (
    query: string,
    hours: number,
    signal: AbortSignal,
  ) => Promise<{ rows: RenderedRow[]; total: number; truncated: boolean }>;
  searchFeed: (text: string, limit: number) => Promise<unknown>;
  lookupIndicator: (value: string) => Promise<unknown>;
  lookupTechnique: (id: string) => unknown;
  /** Undefined if no administrator granted the detection a URL. */
  httpGet: { template: string; get: (url: string, signal: AbortSignal) => Promise<string> } | undefined;
};

/**
 * The feed's functions for tools and judges, bound to one organization. `findKnownIndicators` returns those of the values that feed
 * items mention, each with the titles of the items.
 */
export type FeedTools = Pick<ToolSources, 'searchFeed' | 'lookupIndicator' | 'lookupTechnique'> & {
  findKnownIndicators: (values: string[]) => Promise<{ indicator: string; items: string[] }[]>;
};
