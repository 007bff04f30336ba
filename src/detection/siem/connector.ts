import type { z } from 'zod';
import type { Dialect } from './dialects/dialect.ts';
import type { HiddenData } from './hidden-data.ts';
import type { SweepLanguage } from './sweep-language.ts';

/** The key of the times of a row that have microseconds, in microseconds since 1970 by column. A symbol, so that it is part of no JSON. */
export const exactTimes = Symbol('exactTimes');

/** A row that a query returns. Values are JSON values, times are ISO text with milliseconds. */
export type QueryRow = Record<string, unknown> & { [exactTimes]?: Record<string, number> };

export type TimeBounds = { from: Date; to: Date };

/**
 * The time range `[from, to)`. On clock `ingest` it bounds the ingestion time, on `event` the event time, and on `slot` the event time of
 * late events and the ingestion time of all others. The last two include only events ingested before `ingestedBefore`. With `lateSince`, as
 * in runs, events from before it, events from the future, events that are more than a week late count when they arrive, and history does not count.
 * With `earlierApart`, events from before it that arrive within a week after it count in the slot of their own time.
 * Only a connection with `lateEvents` has the clock `slot`.
 */
export type QueryWindow = TimeBounds & {
  clock: 'ingest' | 'event' | 'slot';
  ingestedBefore?: Date;
  lateSince?: Date;
  earlierApart?: boolean;
};

/** Late events of the time `[from, to)`, and how late the latest of them arrived. */
export type LateEvents = TimeBounds & { events: number; lagMs: number };

/**
 * `bytesMax`: the embedded engine returns no more bytes than that. `hidden`: the search is for a model, and must not read this
 * data. A connection without `canHide` applies it to portable queries only.
 */
export type SearchLimits = {
  rowsMax: number;
  groupsMax: number;
  timeoutMs: number;
  bytesMax?: number;
  hidden?: HiddenData;
};

/**
 * What a column of a result holds. `value`: values of events, unchanged. `count`, `countDistinct`, `sum`, `least`, `greatest`: that aggregate of a
 * column of events. `other`: anything else, such as a constant or a computed value.
 */
export type ColumnKind = 'value' | 'count' | 'countDistinct' | 'sum' | 'least' | 'greatest' | 'other';

/** `aggregate`: the rows are groups, not events. `noData`: a queried dataset never had an event. */
export type SearchResult = {
  rows: QueryRow[];
  total: number;
  truncated: boolean;
  aggregate: boolean;
  noData: boolean;
  /** The window ends before the first event of the queried data, so that it is empty has no meaning for learning. */
  early?: boolean;
  ms: number;
  /** The columns of the query, if the SIEM reports them even without rows. */
  columns?: string[];
  /** What each of `columns` has, if that is known. */
  kinds?: ColumnKind[];
  /** Warnings for the run. `detail` is a sentence. */
  warnings?: { code: string; detail: string }[];
};

/** The properties of a query that can run. `columns` are null if they are not known before there is data. */
export type QueryCheck = Pick<SearchResult, 'noData'> & {
  columns: string[] | null;
  warnings: { code: string; detail: string }[];
  /** Why the query is no filter over single events, as the end of the sentence "The query …". Null: it is one. Absent: unknown. */
  crossEventPart?: string | null;
};

/**
 * Why a query failed. `blame: data`: a value in the logs made a correct query fail. `dependsOnData`: the failure may pass with other events,
 * even though its author can avoid it.
 */
export type SiemFailure = {
  kind: string;
  blame: 'author' | 'upstream' | 'service' | 'data';
  retryable: boolean;
  message: string;
  dependsOnData?: boolean;
};

/** Returns whether a failure is due to the events of a window, so that other windows may not fail. */
export const isDueToData = ({ blame, dependsOnData }: SiemFailure): boolean =>
  blame === 'data' || dependsOnData === true;

/** Thrown by a connection. In a run, `failure` becomes the run's failure record. */
export class SiemError extends Error {
  readonly failure: SiemFailure;
  constructor(failure: SiemFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** `events` and their times are of all events, if the SIEM knows them. */
export type DatasetFields = {
  dataset: string;
  fields: { name: string; type: string }[];
  events?: number;
  firstEventAt?: string | null;
  lastEventAt?: string | null;
};

/** A field of a dataset. The keys of nested objects are joined by dots. */
export type DatasetField = { dataset: string; field: string };

/**
 * The datasets that a query reads, as tools call them, and by column, in lower case, the field that it returns unchanged, as far as that is certain. Any
 * other column probably has the name of its field.
 */
export type QuerySources = { datasets: string[]; fields: ReadonlyMap<string, DatasetField> };

/** How code and models write queries for a connection. */
export type QueryGuide = {
  /** The query language. */
  language: string;
  /** How to write a query and restrict it to its window, in sentences. */
  writing: string;
  dialect: Dialect;
  /** The field with the time of an event. */
  timeField: string;
  /** The column that has a whole event as JSON, or null if the row is the event. */
  eventField: string | null;
  /** Returns what a query calls a dataset that `fields` lists. */
  tableOf: (dataset: string) => string;
  /** Returns whether the rows of a query are events as they are, so that it cannot add a value of its own. Judges by the text. */
  returnsEvents: (query: string) => boolean;
};

/** A query that is searched together with others. `arrival`: when events of earlier windows must have arrived to be late. Null: none are. */
export type SharedRequest = { query: string; window: QueryWindow; arrival: TimeBounds | null };

/** `hasLate`: events of earlier windows have arrived in `arrival`. */
export type SharedResult = { result: SearchResult; hasLate: boolean };

export type SiemConnection = {
  /** The ID of the organization's connection. Absent for the embedded store. */
  id?: string;
  clock: 'ingest' | 'event';
  /** How long a window ends before its slot, in milliseconds. */
  delayMs: number;
  /** How long after its slot a window is examined again, in milliseconds. Only on clock `event`. Absent: never. */
  recheckMs?: number;
  search: (query: string, window: QueryWindow, limits: SearchLimits, signal: AbortSignal) => Promise<SearchResult>;
  /** Searches several windows that follow each other, oldest first, with the results of `search`. Absent: one by one. */
  searchWindows?: (
    query: string,
    windows: readonly QueryWindow[],
    limits: SearchLimits,
    signal: AbortSignal,
  ) => AsyncGenerator<SearchResult>;
  /** Searches many queries, reading the events of a window once, with the results of `search`. Undefined: the query must be searched alone. */
  searchTogether?: (
    requests: readonly SharedRequest[],
    limits: SearchLimits,
    signal: AbortSignal,
  ) => Promise<(SharedResult | undefined)[]>;
  /** Validates a query without reading its rows and returns what is known of it, if anything. Throws a SiemError if it would not run. */
  check: (query: string, signal: AbortSignal) => Promise<QueryCheck | void>;
  /** Lists the datasets with their fields, or only those of one. */
  fields: (signal?: AbortSignal, dataset?: string) => Promise<DatasetFields[]>;
  /** Lists the datasets of portable queries with the fields that are known. Absent if there are no portable queries. */
  portableFields?: () => Promise<DatasetFields[]>;
  /** Absent: counts and profiles of fields are not possible. */
  guide?: QueryGuide;
  /** `limits.hidden` applies to every query. */
  canHide?: true;
  /** Returns what a query reads. Absent: unknown. */
  sourcesOf?: (query: string, signal: AbortSignal) => Promise<QuerySources>;
  /** Returns whether all datasets of a query have events in a window, or null if that is unknown. Absent: unknown. */
  hasEvents?: (query: string, window: QueryWindow, signal: AbortSignal) => Promise<boolean | null>;
  /** Throws a SiemError if the SIEM is unreachable or rejects the credentials. */
  ping: (signal: AbortSignal) => Promise<void>;
  /** Absent if the connection cannot distinguish late events from others. `lagMsMax`: later events count when they arrive. */
  lateEvents?: {
    lagMsMax: number;
    /** Returns the late events that arrived in a window. `lagMsMin`: only those that were later than that. */
    find: (query: string, window: TimeBounds, signal: AbortSignal, lagMsMin?: number) => Promise<LateEvents[]>;
    /** Returns whether a query groups the events of its window, so that events of another time would count with them. */
    groupsEvents: (query: string, signal: AbortSignal) => Promise<boolean>;
  };
  /** Returns the time of the oldest event visible to a query and ingested before `ingestedBefore`, or null. Memory is not backfilled before it. */
  firstEventAt?: (query: string, signal: AbortSignal, ingestedBefore?: Date) => Promise<Date | null>;
};

/** The connector of the embedded store. `connect` receives functions bound to one organization. */
export type SiemConnector<Settings = unknown> = {
  label: string;
  /** The query language, in which Sigma rules and parts of portable queries are written. */
  dialect: Dialect;
  /** The field with the time of an event. */
  timeField: string;
  sweep: SweepLanguage;
  connect: (settings: Settings) => SiemConnection;
};

/** The part of a connection that an adapter implements. The rest comes from the organization's settings. */
export type RemoteConnection = Pick<SiemConnection, 'search' | 'check' | 'fields' | 'ping'>;

/** `allow`: private hosts that may be reached (TOCSIN_FETCH_ALLOW). */
type RemoteConnectionInput<Settings, Credentials> = {
  settings: Settings;
  credentials: Credentials;
  allow: readonly string[];
};

/** How the names of columns are written in a query: `postgres` quotes those with capital letters, `pipes` none. */
export const nameStyles = ['sql', 'postgres', 'pipes'] as const;

/** An adapter for a remote SIEM. It knows neither the database nor organizations. The schemas validate API input. */
export type RemoteConnector<Settings, Credentials> = {
  label: string;
  /** The query language. */
  language: string;
  /** How to write a query and restrict it to its window, in sentences. */
  writing: string;
  names: (typeof nameStyles)[number];
  settings: z.ZodType<Settings>;
  credentials: z.ZodType<Credentials>;
  /** The query language, in which Sigma rules and parts of portable queries are written. */
  dialect: Dialect;
  /** The field with the time of an event, if the settings specify none. */
  timeField: string;
  /** The SIEM's own word for a dataset, such as an index, with an example. `named` matches where a query names one, with the name as its first group. */
  source: { label: string; example: string; named: RegExp };
  /** The column that has a whole event as JSON, or null if the row is the event. */
  eventField: string | null;
  /** Returns what a query calls a dataset that `fields` lists. Absent: the same. */
  tableOf?: (dataset: string) => string;
  /** Returns whether the rows of a query are events as they are, so that it cannot add a value of its own. Judges by the text. */
  returnsEvents: (query: string) => boolean;
  /** `fields` lists all fields that events can have. */
  listsAllFields: boolean;
  /** The types of columns whose values are objects, or null if `fields` lists every field with its whole path. */
  objectColumns: RegExp | null;
  sweep: SweepLanguage;
  // Methods, because their bivariant parameters let the registry hold connectors with different settings.
  /** Returns where the credentials are sent. They must be entered again if it changes. */
  describeTarget(settings: Settings): string;
  /** Returns a host that is reached without TLS, and the responsible setting. */
  findUnencryptedHost(settings: Settings): { field: string; host: string } | undefined;
  /** Returns whether the settings define what clock `ingest` needs. */
  supportsIngestClock(settings: Settings): boolean;
  connect(input: RemoteConnectionInput<Settings, Credentials>): RemoteConnection;
};

/** Selects the SIEM of a detection: a connection by its ID, or else the only connection of a SIEM type. */
export type ConnectionSelector = { connectionId: string | null; siemType: string | null };

/** Returns whether a selector means the embedded log store, which is the default. Its connection ID is the organization's ID. */
export function selectsLogStore(orgId: string, { connectionId, siemType }: ConnectionSelector): boolean {
  if (connectionId !== null) return connectionId === orgId;
  return siemType === null || siemType.toLowerCase() === 'local';
}
