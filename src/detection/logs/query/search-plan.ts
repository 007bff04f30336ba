import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { textColumn, type FieldsByDataset } from '../catalog/catalog.ts';
import type { LogEngine } from '../engine/engine.ts';
import { authorError } from '../engine/engine-failures.ts';
import { eventTextSql } from '../engine/field-sql.ts';
import type { QueryJob } from '../engine/protocol.ts';
import { rewriteNestedPaths, type UnknownPath } from '../engine/rewrite-paths.ts';
import { listUsedNames, readsEventText, tableSql, type FileScan } from '../engine/table-sql.ts';
import type { StoredSegment } from '../storage/store/segment-store.ts';
import { distinctDatasets, type InspectedQuery } from './inspect-query.ts';
import {
  addUnknownColumn,
  describeUnknown,
  explainUnknownColumn,
  findShadowedColumns,
  isColumnError,
  listExtraColumns,
  rejectUnknownColumns,
  type UnknownColumns,
} from './unknown-columns.ts';

const bytesMax = 64 * 1024 * 1024;

/** Number of values that do not fit their column, by dataset and column. */
export type DriftCounts = Map<string, Map<string, number>>;

/**
 * The contents of a query's datasets: the fields of each dataset that has events, the files to scan for each table name, the segments
 * that these files are, and the values in them
 * that do not fit their columns. `otherDatasets` lists names to suggest instead of an unknown one. `early` is true if the datasets have no
 * events before the window's end.
 */
export type DatasetContents = {
  fields: FieldsByDataset;
  scans: Map<string, FileScan[]>;
  segments: StoredSegment[];
  drift: DriftCounts;
  otherDatasets: string[];
  early: boolean;
};

/** `emptyDatasets` never had an event. `buildJob` returns the job and the dotted names that no event has, which are null in it. */
export type SearchPlan = {
  inspected: InspectedQuery;
  contents: DatasetContents;
  emptyDatasets: string[];
  buildJob: (unknown?: UnknownColumns) => QueryJob & { unknownPaths: UnknownPath[] };
};

export function createSearchPlan(
  inspected: InspectedQuery,
  contents: DatasetContents,
  window: QueryWindow,
): SearchPlan {
  const emptyDatasets = distinctDatasets(inspected.sources).filter((dataset) => !contents.fields.has(dataset));
  const tables = { fields: contents.fields, sources: inspected.sources };
  const shadowed = (): UnknownColumns => findShadowedColumns(inspected.inspection, tables);
  const job = (unknown = shadowed()) => buildJob(inspected, contents, { window, unknown });
  return { inspected, contents, emptyDatasets, buildJob: job };
}

type RunOptions = { limits: SearchLimits; signal: AbortSignal | undefined; began: number };

/** Runs a planned search on the engine. `began` is when the search started, by `performance.now()`. Throws the same errors as `searchLogs`. */
export async function runSearchPlan(
  { engine }: { engine: LogEngine },
  organization: string,
  plan: SearchPlan,
  { limits, signal, began }: RunOptions,
): Promise<SearchResult> {
  const { inspected, contents, emptyDatasets } = plan;
  const { aggregate } = inspected.inspection;
  const warnings = describeEmptyDatasets(emptyDatasets, contents);
  const { early } = contents;
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
    const { result, unknown } = await runWithUnknownColumns(plan, limits, (job) =>
      engine.query(organization, { ...job, rowsMax }, run),
    );
    const { failedValues, ...found } = result;
    return {
      ...found,
      // Groups with an `_id` column count as events.
      aggregate: aggregate && !(found.rows[0] && '_id' in found.rows[0]),
      noData: emptyDatasets.length > 0,
      early,
      ms: performance.now() - began,
      warnings: [
        ...warnings,
        ...unknown,
        ...describeDrift(contents, listUsedNames(inspected.inspection)),
        ...describeFailedValues(failedValues),
      ],
    };
  } catch (error) {
    const explained = explainUnknownColumn(error, contents.fields);
    if (emptyDatasets.length > 0 && isColumnError(explained)) return emptyResult();
    throw explained;
  }
}

/** Returns a warning for each dataset that never had an event, with the nearest name. */
export const describeEmptyDatasets = (datasets: string[], { otherDatasets }: DatasetContents): Warnings =>
  datasets.map((dataset) => ({
    code: 'no_data',
    detail: `Dataset ${dataset} has never received an event${didYouMean(dataset, otherDatasets)}`,
  }));

type Warnings = NonNullable<SearchResult['warnings']>;

/** Runs a job, and again with each column that the engine reports as missing as null, unless `limits` forbid unknown columns. */
async function runWithUnknownColumns<Result>(
  { inspected, contents, buildJob }: SearchPlan,
  limits: SearchLimits,
  run: (job: QueryJob) => Promise<Result>,
): Promise<{ result: Result; unknown: Warnings }> {
  const tables = { fields: contents.fields, sources: inspected.sources };
  const unknown = findShadowedColumns(inspected.inspection, tables);
  if (limits.unknownColumns === 'error') rejectUnknownColumns(unknown, contents.fields);
  for (;;) {
    const { unknownPaths, ...job } = buildJob(unknown);
    if (limits.unknownColumns === 'error') rejectUnknownPaths(unknownPaths);
    try {
      return { result: await run(job), unknown: describeUnknown(unknown, unknownPaths, tables) };
    } catch (error) {
      if (limits.unknownColumns === 'error' || !addUnknownColumn(unknown, error, tables)) throw error;
    }
  }
}

/** Throws `unknown_column` if there is a dotted name that no event has. */
export function rejectUnknownPaths([first]: UnknownPath[]): void {
  if (first) throw authorError('unknown_column', `No event has the key ${first.name}${first.hint}`);
}

/** Returns a warning about values of the used columns that do not fit them. Without `used`, all columns are used. */
export function describeDrift(contents: DatasetContents, used: ReadonlySet<string> | undefined): Warnings {
  const parts = [...contents.drift].flatMap(([dataset, columns]) =>
    [...columns]
      .filter(([column]) => used === undefined || used.has(column.toLowerCase()))
      .map(([column, count]) => `${count} of ${dataset}.${column}`),
  );
  if (parts.length === 0) return [];
  const detail = `Values that do not fit their column are null in it: ${parts.join(', ')}. Read them as text, for example _text.${parts[0]!.split('.').slice(1).join('.')}.`;
  return [{ code: 'type_drift', detail }];
}

function describeFailedValues(message: string | undefined): Warnings {
  if (message === undefined) return [];
  return [{ code: 'failed_values', detail: `Expressions that a value or its type made fail are null. ${message}` }];
}

function buildJob(
  { query, inspection, sources }: InspectedQuery,
  contents: DatasetContents,
  { window, unknown }: { window: QueryWindow; unknown: UnknownColumns },
): QueryJob & { unknownPaths: UnknownPath[] } {
  const usedNames = listUsedNames(inspection);
  const text = readsEventText(inspection) ? [{ name: textColumn, valueSql: eventTextSql }] : [];
  const tables = sources.map((source) => {
    const columns = (contents.fields.get(source.dataset) ?? []).map((field, position) => ({ field, position }));
    const scans = contents.scans.get(source.name) ?? [];
    const eventAsText = inspection.eventAsText && usedNames !== undefined;
    const extra = [...text, ...listExtraColumns(unknown, source, contents.fields)];
    return { name: source.name, sql: tableSql({ columns, extra, scans, eventAsText, usedNames }) };
  });
  const fields = [...contents.fields.values()].flat();
  const rewritten = rewriteNestedPaths(query, inspection, { fields, unknownHeads: unknown.heads });
  return {
    sql: rewritten.sql,
    tables,
    bounds: { from: window.from.toISOString(), to: window.to.toISOString() },
    aggregate: inspection.aggregate,
    mode: 'rows',
    rowsMax: 0,
    bytesMax,
    unknownPaths: rewritten.unknown,
  };
}
