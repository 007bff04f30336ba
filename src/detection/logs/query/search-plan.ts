import { didYouMean, nearestNames } from '../../../platform/lib/text/nearest-names.ts';
import { SiemError, type QueryWindow, type SearchLimits, type SearchResult } from '../../siem/connector.ts';
import type { FieldsByDataset } from '../catalog/catalog.ts';
import { listCatalogColumns } from '../catalog/columns.ts';
import type { LogEngine } from '../engine/engine.ts';
import { authorError, missingColumn } from '../engine/engine-failures.ts';
import type { Inspection } from '../engine/inspect-tree.ts';
import type { QueryJob } from '../engine/protocol.ts';
import { rewriteNestedPaths } from '../engine/rewrite-paths.ts';
import { listUsedNames, tableSql, type FileScan } from '../engine/table-sql.ts';
import { distinctDatasets, type InspectedQuery } from './inspect-query.ts';

const bytesMax = 64 * 1024 * 1024;
const listedColumnsMax = 30;

/**
 * What a query's datasets contain: the fields of each dataset that has events, and the files to scan for each table name. `otherDatasets`
 * lists names to suggest instead of an unknown one. `early` is true if the datasets have no events before the window's end.
 */
export type DatasetContents = {
  fields: FieldsByDataset;
  scans: Map<string, FileScan[]>;
  otherDatasets: string[];
  early: boolean;
};

/** `emptyDatasets` never had an event. `buildJob` throws `unknown_column` for a dotted name that no event has. */
export type SearchPlan = {
  inspection: Inspection;
  contents: DatasetContents;
  emptyDatasets: string[];
  buildJob: () => QueryJob;
};

export function createSearchPlan(
  inspected: InspectedQuery,
  contents: DatasetContents,
  window: QueryWindow,
): SearchPlan {
  const { inspection, sources } = inspected;
  const emptyDatasets = distinctDatasets(sources).filter((dataset) => !contents.fields.has(dataset));
  return { inspection, contents, emptyDatasets, buildJob: () => buildJob(inspected, contents, window) };
}

/** Runs a planned search on the engine. `began` is when the search started, by `performance.now()`. Throws the same errors as `searchLogs`. */
export async function runSearchPlan(
  { engine }: { engine: LogEngine },
  organization: string,
  { inspection, contents, emptyDatasets, buildJob }: SearchPlan,
  { limits, signal, began }: { limits: SearchLimits; signal: AbortSignal | undefined; began: number },
): Promise<SearchResult> {
  const { early } = contents;
  const { aggregate } = inspection;
  const warnings = describeEmptyDatasets(emptyDatasets, contents);
  const emptyResult = (): SearchResult => ({
    rows: [],
    total: 0,
    truncated: false,
    aggregate,
    noData: true,
    early,
    ms: performance.now() - began,
    warnings,
  });
  if (emptyDatasets.length > 0 && contents.fields.size === 0) return emptyResult();
  try {
    const rowsMax = aggregate ? limits.groupsMax : limits.rowsMax;
    const run = { timeoutMs: limits.timeoutMs, ...(signal ? { signal } : {}) };
    const result = await engine.query(organization, { ...buildJob(), rowsMax }, run);
    return {
      ...result,
      // Groups with an `_id` column count as events.
      aggregate: aggregate && !(result.rows[0] && '_id' in result.rows[0]),
      noData: emptyDatasets.length > 0,
      early,
      ms: performance.now() - began,
      warnings,
    };
  } catch (error) {
    const explained = explainUnknownColumn(error, contents);
    if (emptyDatasets.length > 0 && isColumnError(explained)) return emptyResult();
    throw explained;
  }
}

/** Returns a sentence for each dataset that never had an event, with the nearest name. */
export const describeEmptyDatasets = (datasets: string[], { otherDatasets }: DatasetContents): string[] =>
  datasets.map((dataset) => `Dataset ${dataset} has never received an event${didYouMean(dataset, otherDatasets)}`);

function buildJob(
  { query, inspection, sources }: InspectedQuery,
  contents: DatasetContents,
  window: QueryWindow,
): QueryJob {
  const usedNames = listUsedNames(inspection);
  const tables = sources.map(({ name, dataset }) => {
    const columns = (contents.fields.get(dataset) ?? []).map((field, position) => ({ field, position }));
    const scans = contents.scans.get(name) ?? [];
    const eventAsText = inspection.eventAsText && usedNames !== undefined;
    return { name, sql: tableSql({ columns, scans, eventAsText, usedNames }) };
  });
  return {
    sql: rewriteNestedPaths(query, inspection, [...contents.fields.values()].flat()),
    tables,
    bounds: { from: window.from.toISOString(), to: window.to.toISOString() },
    aggregate: inspection.aggregate,
    mode: 'rows',
    rowsMax: 0,
    bytesMax,
  };
}

/** Turns the engine's error about a missing column into `unknown_column` with the nearest names. Returns any other error unchanged. */
export function explainUnknownColumn(error: unknown, { fields }: DatasetContents): unknown {
  if (!(error instanceof SiemError) || error.failure.kind !== 'query_error') return error;
  const column = missingColumn(error.failure.message);
  if (column === undefined) return error;
  const names = [...new Set([...fields.values()].flatMap((list) => listCatalogColumns(list).map(({ name }) => name)))];
  const isListed = names.length <= listedColumnsMax && nearestNames(column, names).length === 0;
  const hint = isListed ? `; the columns are ${names.join(', ')}.` : didYouMean(column, names);
  return authorError('unknown_column', `No column is named ${column}${hint}`);
}

const isColumnError = (error: unknown): boolean =>
  error instanceof SiemError && (error.failure.kind === 'unknown_column' || /[Aa]mbiguous/.test(error.failure.message));
