/** A row as a judge sees it: rendered, secrets redacted. */
export type RowView = { rowId: string; time: string | null; fields: Record<string, string> };

/** What tools may reach, each function bound to one entity and its organization; tools themselves see neither. */
export type ToolSources = {
  entity: string;
  rows: readonly RowView[];
  history: (limit: number) => Promise<unknown>;
  searchSiem: (
    query: string,
    hours: number,
    signal: AbortSignal,
  ) => Promise<{ rows: RowView[]; total: number; truncated: boolean }>;
  searchFeed: (text: string, limit: number) => Promise<unknown>;
  lookupIndicator: (value: string) => Promise<unknown>;
  lookupTechnique: (id: string) => unknown;
  /** Undefined where no administrator allowed the detection an address. */
  httpGet: { template: string; get: (url: string, signal: AbortSignal) => Promise<string> } | undefined;
};

/** What the feed gives to tools, of one organization. */
export type FeedTools = Pick<ToolSources, 'searchFeed' | 'lookupIndicator' | 'lookupTechnique'>;
