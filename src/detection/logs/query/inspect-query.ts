import { SiemError, type QueryWindow, type SearchLimits, type SearchResult } from '../../siem/connector.ts';
import type { CatalogField } from '../catalog/catalog.ts';
import { listCatalogColumns } from '../catalog/columns.ts';
import { historySuffix, isDatasetName } from '../catalog/dataset-name.ts';
import { queryCharsMax, type LogEngine } from '../engine/engine.ts';
import { authorError, missingColumn, queryNotAllowed } from '../engine/engine-failures.ts';
import type { Inspection } from '../engine/inspect-tree.ts';
import { didYouMean, nearestNames } from '../../../platform/lib/text/nearest-names.ts';
import type { QueryJob } from '../engine/protocol.ts';
import { rewriteNestedPaths } from '../engine/rewrite-paths.ts';
import { listUsedNames, tableSql, type FileScan } from '../engine/table-sql.ts';

const datasetsPerQuery = 20;
const bytesMax = 64 * 1024 * 1024;

type EngineDeps = { engine: LogEngine };

/** A name that a query reads: the dataset it stands for, and whether it is what lies before the window. */
export type QuerySource = { name: string; dataset: string; history: boolean };

/** A query that may run, and what it reads. */
export type InspectedQuery = { query: string; inspection: Inspection; sources: QuerySource[] };

/**
 * Columns by dataset, the files of each name that the query reads, and what other datasets there are. `early`: none of the datasets
 * held anything by the window's end.
 */
export type DatasetContents = {
  fields: Map<string, CatalogField[]>;
  parts: Map<string, FileScan[]>;
  others: string[];
  early: boolean;
};

/** `empty` are the datasets that never had an event; `job` is what the engine is asked (throws `unknown_column` for a dotted name that no event has). */
export type SearchPlan = { inspection: Inspection; held: DatasetContents; empty: string[]; job: () => QueryJob };

/** Parses a query and holds it against the allow-lists. Throws query_not_allowed, query_error. */
export async function inspectQuery(
  { engine }: EngineDeps,
  organization: string,
  query: string,
  signal?: AbortSignal,
): Promise<InspectedQuery> {
  if (query.length > queryCharsMax) throw queryNotAllowed(`A query has at most ${queryCharsMax} characters.`);
  if (query.includes('\u0000') || !query.isWellFormed())
    throw queryNotAllowed('A query is text without U+0000 and lone surrogates.');
  const inspection = await engine.inspect(organization, query, {
    timeoutMs: 10_000,
    ...(signal ? { signal } : {}),
  });
  return { query, inspection, sources: sourcesOf(inspection) };
}

/** The names of the datasets that a query reads. Throws query_not_allowed. */
export async function listDatasetsRead(
  deps: EngineDeps,
  organization: string,
  query: string,
  signal?: AbortSignal,
): Promise<string[]> {
  return distinctDatasets((await inspectQuery(deps, organization, query, signal)).sources);
}

function sourcesOf(inspection: Inspection): QuerySource[] {
  const sources = inspection.tables.map((name): QuerySource => {
    const history = name.endsWith(historySuffix);
    const dataset = history ? name.slice(0, -historySuffix.length) : name;
    if (!isDatasetName(dataset)) throw queryNotAllowed(`"${name}" is no dataset: a query reads datasets by name.`);
    return { name, dataset, history };
  });
  if (distinctDatasets(sources).length > datasetsPerQuery)
    throw queryNotAllowed(`A query reads at most ${datasetsPerQuery} datasets.`);
  return sources;
}

export const distinctDatasets = (sources: QuerySource[]): string[] => [
  ...new Set(sources.map((source) => source.dataset)),
];

export function createSearchPlan(inspected: InspectedQuery, held: DatasetContents, window: QueryWindow): SearchPlan {
  const { inspection, sources } = inspected;
  const empty = distinctDatasets(sources).filter((dataset) => !held.fields.has(dataset));
  return { inspection, held, empty, job: () => jobOf(inspected, held, window) };
}

/** Has the engine run what was planned. Throws as `searchLogs`. */
export async function runSearchPlan(
  { engine }: EngineDeps,
  organization: string,
  { inspection, held, empty, job }: SearchPlan,
  { limits, signal, began }: { limits: SearchLimits; signal: AbortSignal | undefined; began: number },
): Promise<SearchResult> {
  const warnings = empty.map(
    (dataset) => `The dataset ${dataset} never had an event${didYouMean(dataset, held.others)}`,
  );
  const { early } = held;
  const nothing = (): SearchResult => ({ ...emptyResult(inspection), early, ms: performance.now() - began, warnings });
  if (empty.length > 0 && held.fields.size === 0) return nothing();
  try {
    const rowsMax = inspection.aggregate ? limits.groupsMax : limits.rowsMax;
    const run = { timeoutMs: limits.timeoutMs, ...(signal ? { signal } : {}) };
    const result = await engine.query(organization, { ...job(), rowsMax }, run);
    return {
      ...result,
      aggregate: isAggregate(inspection, result.rows),
      noData: empty.length > 0,
      early,
      ms: performance.now() - began,
      warnings,
    };
  } catch (error) {
    const known = explainUnknownColumn(error, held);
    if (empty.length > 0 && isAboutColumns(known)) return nothing();
    throw known;
  }
}

function jobOf({ query, inspection, sources }: InspectedQuery, held: DatasetContents, window: QueryWindow): QueryJob {
  const only = listUsedNames(inspection);
  const tables = sources.map(({ name, dataset }) => {
    const columns = (held.fields.get(dataset) ?? []).map((field, position) => ({ field, position }));
    const parts = held.parts.get(name) ?? [];
    return { name, sql: tableSql({ columns, parts, eventAsText: inspection.eventAsText && only !== undefined, only }) };
  });
  return {
    sql: rewriteNestedPaths(query, inspection, [...held.fields.values()].flat()),
    tables,
    bounds: { from: window.from.toISOString(), to: window.to.toISOString() },
    aggregate: inspection.aggregate,
    mode: 'rows',
    rowsMax: 0,
    bytesMax,
  };
}

// Groups that name their events by `_id` are rows of events all the same.
function isAggregate(inspection: Inspection, rows: Record<string, unknown>[]): boolean {
  return inspection.aggregate && !(rows[0] && '_id' in rows[0]);
}

function emptyResult(inspection: Inspection): Omit<SearchResult, 'ms' | 'warnings'> {
  return { rows: [], total: 0, truncated: false, aggregate: inspection.aggregate, noData: true };
}

/** An engine's word about a column that is missing becomes `unknown_column` with the nearest names. */
export function explainUnknownColumn(error: unknown, held: DatasetContents): unknown {
  if (!(error instanceof SiemError) || error.failure.kind !== 'query_error') return error;
  const column = missingColumn(error.failure.message);
  if (column === undefined) return error;
  const names = [
    ...new Set([...held.fields.values()].flatMap((fields) => listCatalogColumns(fields).map(({ name }) => name))),
  ];
  const near = nearestNames(column, names);
  const list = near.length === 0 && names.length <= 30 ? `; there are ${names.join(', ')}.` : didYouMean(column, names);
  return authorError('unknown_column', `No column is named ${column}${list}`);
}

const isAboutColumns = (error: unknown): boolean =>
  error instanceof SiemError && (error.failure.kind === 'unknown_column' || /[Aa]mbiguous/.test(error.failure.message));
