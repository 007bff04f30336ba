import type { z } from 'zod';
import type { TextOrigin, ToolEffect } from '../../platform/models/model-tool.ts';
import type { RenderedRow } from '../analysis/candidate.ts';

/** Everything that is asked of a built-in tool. */
export type ToolDefinition<Input = unknown> = {
  /** Written for a language model, and shown to people. */
  description: string;
  input: z.ZodType<Input>;
  effect: ToolEffect;
  /** `get_rows` returns the rows of the case, which have rules of their own, so it adds nothing from outside. */
  origin: TextOrigin;
  /** Its results may contain rows of any entity, so a detection with this tool is no longer limited to one entity. */
  seesOtherEntities: boolean;
  /** Returns the problem with the URL that the grant of an administrator must set, or undefined. Null if a grant sets no URL. */
  findUrlProblem: ((url: string) => string | undefined) | null;
  // Declared as a method, so that definitions with different inputs fit into one registry.
  run(input: Input, sources: ToolSources, signal: AbortSignal): Promise<unknown>;
};

/** Returns the tool. Infers the type of the input from its schema. */
export const defineTool = <Input>(tool: ToolDefinition<Input>): ToolDefinition => tool;

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
  /** The URL template that an administrator granted to this tool. */
  grantedUrl: string | undefined;
  fetchText: (url: string, signal: AbortSignal) => Promise<string>;
};

/**
 * The feed's functions for tools and judges, bound to one organization. `findKnownIndicators` returns those of the values that feed
 * items mention, each with the titles of the items.
 */
export type FeedTools = Pick<ToolSources, 'searchFeed' | 'lookupIndicator' | 'lookupTechnique'> & {
  findKnownIndicators: (values: string[]) => Promise<{ indicator: string; items: string[] }[]>;
};
