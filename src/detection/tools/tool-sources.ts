import type { RenderedRow } from '../analysis/candidate.ts';

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
