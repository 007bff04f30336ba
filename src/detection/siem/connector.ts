import type { z } from 'zod';

/** What every SIEM adapter is. Adapters see no database and no organization: they get ready functions and settings. */
export type QueryRow = Record<string, unknown>;

/** `[from, to)`. On `ingest` the bounds are on `_ingested`; on `event` on the event's own time, of events ingested before `ingestedBefore`. */
export type QueryWindow = { from: Date; to: Date; clock: 'ingest' | 'event'; ingestedBefore?: Date };

export type SearchLimits = { rowsMax: number; groupsMax: number; timeoutMs: number };

/** `rows` are JSON values (times as ISO text); `aggregate` says that rows are groups, not events; `noData` that a dataset named never had an event. */
export type SearchResult = {
  rows: QueryRow[];
  total: number;
  truncated: boolean;
  aggregate: boolean;
  noData: boolean;
  /** The window lies before the first event of all that the query reads: that it is empty is nothing to learn from. */
  early?: boolean;
  ms: number;
  /** What the reader of a run should know, in sentences. */
  warnings?: string[];
};

export type SiemFailure = {
  kind: string;
  blame: 'author' | 'upstream' | 'service';
  retryable: boolean;
  message: string;
};

/** Thrown by a connection; in a run it becomes the run's failure record. */
export class SiemError extends Error {
  readonly failure: SiemFailure;
  constructor(failure: SiemFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

export type DatasetFields = { dataset: string; fields: { name: string; type: string }[] };

export type SiemConnection = {
  /** Of a connection that the organization made; absent: the embedded store. */
  id?: string;
  clock: 'ingest' | 'event';
  /** Milliseconds that a slot's window lies behind its slot. */
  delayMs: number;
  /** On the clock `event`: how long after its slot a window is examined once more, in milliseconds; absent: not at all. */
  recheckMs?: number;
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Checks a query without its rows; throws a SiemError that says what would not run. */
  check: (query: string, signal: AbortSignal) => Promise<void>;
  fields: (signal?: AbortSignal) => Promise<DatasetFields[]>;
  /** Whether it answers and takes the credentials; throws a SiemError. */
  ping: (signal: AbortSignal) => Promise<void>;
  /** The time of the oldest event that a query could see, of those ingested before `ingestedBefore`; null where there is none: memory is not filled from before it. */
  firstEventAt?: (query: string, signal: AbortSignal, ingestedBefore?: Date) => Promise<Date | null>;
};

/** The embedded store behind the same face: `connect` closes over ready functions. */
export type SiemConnector<Settings = unknown> = { label: string; connect: (settings: Settings) => SiemConnection };

/** What of a connection an adapter gives; the rest is the organization's choice. */
export type RemoteConnection = Pick<SiemConnection, 'search' | 'check' | 'fields' | 'ping'>;

/** `allow`: private hosts that may be reached (TOCSIN_FETCH_ALLOW). `clock`: which of the columns that the settings name bounds the windows. */
export type RemoteConnectionInput<Settings, Credentials> = {
  settings: Settings;
  credentials: Credentials;
  clock: 'ingest' | 'event';
  allow: readonly string[];
};

/** A SIEM elsewhere. The schemas check what the API is given; `connect` closes over it, so that no settings type leaks out. */
export type RemoteConnector<Settings, Credentials> = {
  label: string;
  /** What its queries are written in. */
  language: string;
  /** How one is written, in sentences: what bounds it to its window, and where an event has its id. */
  writing: string;
  settings: z.ZodType<Settings>;
  credentials: z.ZodType<Credentials>;
  // Methods, so that a registry can hold connectors of all settings: each gets only what its own schemas read.
  /** Where the credentials go: with another address they have to be given anew. */
  describeTarget(settings: Settings): string;
  /** A host that would be reached without TLS, and the setting that says so. */
  findUnencryptedHost(settings: Settings): { field: string; host: string } | undefined;
  /** Whether the settings name what the clock `ingest` needs. */
  supportsIngestClock(settings: Settings): boolean;
  connect(given: RemoteConnectionInput<Settings, Credentials>): RemoteConnection;
};
