/** What every SIEM adapter is. Adapters see no database and no organization: they get ready functions and settings. */
export type Row = Record<string, unknown>;

/** `[from, to)`. On `ingest` the bounds are on `_ingested`; on `event` on the event's own time, of events ingested before `ingestedBefore`. */
export type QueryWindow = { from: Date; to: Date; clock: 'ingest' | 'event'; ingestedBefore?: Date };

export type SearchLimits = { rowsMax: number; groupsMax: number; timeoutMs: number };

/** `rows` are JSON values (times as ISO text); `aggregate` says that rows are groups, not events; `noData` that a dataset named never had an event. */
export type SearchResult = {
  rows: Row[];
  total: number;
  truncated: boolean;
  aggregate: boolean;
  noData: boolean;
  ms: number;
  /** What the reader of a run should know, in sentences. */
  warnings?: string[];
};

export type SiemFailure = { kind: string; blame: 'author' | 'upstream' | 'us'; retryable: boolean; message: string };

/** Thrown by a connection; in a run it becomes the run's failure record. */
export class SiemError extends Error {
  readonly failure: SiemFailure;
  constructor(failure: SiemFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export type SiemConnection = {
  clock: 'ingest' | 'event';
  /** Milliseconds that a slot's window lies behind its slot. */
  delayMs: number;
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Checks a query without its rows; throws a SiemError that says what would not run. */
  check: (query: string, signal: AbortSignal) => Promise<void>;
  fields: () => Promise<{ dataset: string; fields: { name: string; type: string }[] }[]>;
  /** The time of the oldest event that a query could see, null where there is none: memory is not filled from before it. */
  firstEventAt?: (query: string, signal: AbortSignal) => Promise<Date | null>;
};

/** One SIEM. `connect` checks the settings and closes over them, so that no settings type leaks out. */
export type SiemConnector<Settings = unknown> = { label: string; connect: (settings: Settings) => SiemConnection };
