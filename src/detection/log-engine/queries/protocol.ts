import type { Expression } from '../../matching/expression.ts';
import { exactTimes, type SiemFailure, type QueryRow } from '../../siem/connector.ts';
import type { Inspection } from '../inspection/inspection.ts';
import { duck, quoteIdentifier, type SqlText } from '../sql/sql-text.ts';
import type { ColumnReplacement } from './nested-paths.ts';
import type { KeySpellings } from './key-spellings.ts';

/** Options of one organization's engine. `directory` is the only folder it can access. Sizes are in MiB. */
export type OpenOptions = { directory: string; memoryMb: number; residentMb: number };

/** A value list as a table of texts. `rows` have a cell for each column. */
export type ListTable = { name: string; columns: string[]; rows: string[][] };

/**
 * `sql` is the author's query, which the engine checks. `spellings`: other spellings of the keys in its JSON paths, if there are any.
 * `replacements`: what its dotted names stand for. `tables` defines the dataset names, and `lists` the value lists. `bounds` is the window as ISO text.
 */
export type QueryJob = {
  sql: string;
  spellings?: KeySpellings | undefined;
  replacements?: ColumnReplacement[] | undefined;
  tables: { name: string; sql: SqlText }[];
  lists?: ListTable[] | undefined;
  bounds: { from: string; to: string };
  aggregate: boolean;
  mode: 'rows' | 'check';
  rowsMax: number;
  bytesMax: number;
};

/** An expression over fields, which are called by their index in the job. `columns` are the fields of its rows by name. */
type MatchRule = {
  where: Expression;
  columns: { name: string; field: number }[];
  constants: Readonly<Record<string, string>>;
};

/** Expressions that are evaluated together. `textField` is the field that is the text of the event. */
export type MatchSet = { textField: number | null; rules: MatchRule[] };

/**
 * The evaluation of a set on the rows of a query, which returns `_id`, `_time` and texts. `fields` are the positions of the texts of each field
 * in its result, by priority. The engine remembers sets by `setKey`: without `set` it evaluates the one that it got before. A rule that matches
 * more than `rowsMax` rows has no result, nor have the rules with the most rows if all of them together exceed `bytesMax`.
 */
export type MatchJob = {
  query: QueryJob;
  fields: number[][];
  setKey: string;
  set?: MatchSet;
  rowsMax: number;
  bytesMax: number;
};

/**
 * A query to run over several windows, whose rows are read once. Each table is stored with the slot time of its rows in `slotColumn`, which
 * selects those of a window. `extra` are the columns without a value.
 */
export type WindowsJob = {
  query: Omit<QueryJob, 'tables' | 'bounds'>;
  tables: { name: string; rows: SqlText; slotColumn: string; extra: { name: string }[] }[];
  windows: { from: string; to: string }[];
};

/**
 * Queries that run one after the other. `stored` are selects whose rows are read once and stored as `storedName(index)`, for the tables of the queries.
 * A query that takes longer than `queryMs` or returns more than its limits fails, and those that have not begun after `turnMs` have no result.
 */
export type BatchJob = { stored: SqlText[]; queries: QueryJob[]; queryMs: number; turnMs: number };

/** The name of stored rows. No dataset has a name with a dot, so that no query can read them in another way. */
export const storedName = (index: number): SqlText => duck`temp.${quoteIdentifier(`_rows_${index}`)}`;

/** SQL over the organization's folder, for compaction. The last statement is a SELECT, whose rows are returned. */
export type MaintenanceJob = { statements: SqlText[] };

/** Messages from the service to an engine process. */
export type ToChild =
  | { kind: 'open'; options: OpenOptions }
  | { kind: 'inspect'; id: number; sql: string }
  | { kind: 'query'; id: number; job: QueryJob }
  | { kind: 'match'; id: number; job: MatchJob }
  | { kind: 'windows'; id: number; job: WindowsJob }
  | { kind: 'batch'; id: number; job: BatchJob }
  | { kind: 'maintain'; id: number; job: MaintenanceJob }
  | { kind: 'cancel'; id: number };

/**
 * `times` are the columns whose times an engine process sends in microseconds since 1970. `failedValues` describes the first expression that
 * failed on a row and was taken as NULL. `isSetUnknown`: the engine does not have the set of a `MatchJob` any more, and evaluated nothing.
 */
export type QueryEnd = {
  total: number;
  truncated: boolean;
  columns: string[];
  times?: string[] | undefined;
  failedValues?: string;
  isSetUnknown?: true;
};

/** Messages from an engine process to the service. */
export type FromChild =
  | { kind: 'ready' }
  | { kind: 'memory-exceeded' }
  | { kind: 'inspected'; id: number; inspection: Inspection }
  | { kind: 'rows'; id: number; rows: Record<string, unknown>[] }
  /** `rows` are the last ones. */
  | { kind: 'done'; id: number; rows: Record<string, unknown>[]; end: QueryEnd }
  | { kind: 'failed'; id: number; failure: SiemFailure; mustReplaceEngine: boolean };

type Row = Record<string, unknown>;

/** Rows of one window, or the end of its result. */
export type WindowRows = { rows: Row[] } | { end: QueryEnd };

/** Rows of one query of a batch, the end of its result, or why it failed. */
export type BatchPart = { query: number } & ({ rows: Row[] } | { end: QueryEnd } | { failure: SiemFailure });

/** The result of a query of a batch. Undefined if the time did not suffice for it. */
export type BatchResult = ({ rows: QueryRow[] } & Omit<QueryEnd, 'times'>) | { failure: SiemFailure } | undefined;

/** Joins the parts that an engine process sends for a batch. Returns the results of its queries in order. */
export function collectBatch(parts: readonly BatchPart[], queries: number): BatchResult[] {
  const rows = Array.from({ length: queries }, (): QueryRow[] => []);
  const results: BatchResult[] = Array.from({ length: queries });
  for (const part of parts) {
    if ('rows' in part) for (const row of part.rows) rows[part.query]!.push(row);
    else if ('failure' in part) results[part.query] = { failure: part.failure };
    else results[part.query] = formatTimes({ rows: rows[part.query]!, ...part.end });
  }
  return results;
}

/** Joins the parts that an engine process sends for the windows of a job. A result without an end is incomplete and left out. */
export function collectWindows(parts: readonly WindowRows[]): ({ rows: Row[] } & QueryEnd)[] {
  const results: ({ rows: Row[] } & QueryEnd)[] = [];
  let rows: Row[] = [];
  for (const part of parts) {
    if ('rows' in part) for (const row of part.rows) rows.push(row);
    else {
      results.push({ rows, ...part.end });
      rows = [];
    }
  }
  return results;
}

/**
 * Replaces the times that an engine process sent in microseconds by ISO 8601 UTC with milliseconds. Keeps those that have microseconds under
 * `exactTimes`.
 */
export function formatTimes<Result extends Pick<QueryEnd, 'times'>>({
  rows,
  times = [],
  ...end
}: { rows: QueryRow[] } & Result): { rows: QueryRow[] } & Omit<Result, 'rows' | 'times'> {
  for (const row of rows)
    for (const name of times) {
      const micros = row[name];
      if (typeof micros !== 'number') continue;
      row[name] = new Date(Math.floor(micros / 1000)).toISOString();
      if (micros % 1000 !== 0) (row[exactTimes] ??= {})[name] = micros;
    }
  return { rows, ...end };
}
