import { didYouMean } from '../../../platform/lib/text/nearest-names.ts';
import type { QueryRow, QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { textColumn, type FieldsByDataset } from '../../log-store/catalog/catalog.ts';
import { otherColumns } from '../../log-store/catalog/merge-catalog.ts';
import type { LogEngine } from '../../log-engine/process/engine.ts';
import { eventTextSql } from '../../log-engine/sql/field-sql.ts';
import { listUsedNames, readsEventText, type Inspection } from '../../log-engine/inspection/inspection.ts';
import { toColumnKinds } from '../../log-engine/inspection/output-columns.ts';
import { findKeySpellings } from '../../log-engine/queries/key-spellings.ts';
import type { QueryEnd, QueryJob, WindowsJob } from '../../log-engine/queries/protocol.ts';
import { findReplacements, type UnknownPath } from '../../log-engine/queries/nested-paths.ts';
import type { SqlText } from '../../log-engine/sql/sql-text.ts';
import { rowsSql, tableSql, type FileScan, type TableSource } from '../../log-engine/sql/table-sql.ts';
import type { StoredSegment } from '../../log-store/files/segment-store.ts';
import { distinctDatasets, type InspectedQuery, type QuerySource } from './inspect-query.ts';
import {
  addUnknownColumn,
  describeUnknown,
  explainUnknownColumn,
  findShadowedColumns,
  isColumnError,
  listExtraColumns,
  listRespelledColumns,
  type UnknownColumns,
} from './unknown-columns.ts';

const bytesMax = 64 * 1024 * 1024;

/** Number of values that do not fit their column, by dataset and column. */
export type DriftCounts = Map<string, Map<string, number>>;

/**
 * The contents of a query's datasets: the fields of each dataset that has events, the files to scan for each table name, the segments of these
 * files, and the values in them that do not fit their columns. `otherDatasets` lists names to suggest instead of an unknown one. `early` is
 * true if the datasets have no events before the window's end.
 */
export type DatasetContents = {
  fields: FieldsByDataset;
  scans: Map<string, FileScan[]>;
  segments: StoredSegment[];
  drift: DriftCounts;
  otherDatasets: string[];
  early: boolean;
  /** Fields that the query cannot read. Absent: it can read all. */
  hiddenFields?: readonly string[];
  /** No event before this time is late. Absent if no event is. */
  lateFrom?: Date;
};

/** `emptyDatasets` never had an event. `buildJob` returns the job and the dotted names that no event has, which are null in it. */
export type SearchPlan = {
  inspected: InspectedQuery;
  contents: DatasetContents;
  emptyDatasets: string[];
  buildJob: (unknown?: UnknownColumns) => QueryJob & { unknownPaths: UnknownPath[] };
};

type TextSql = typeof eventTextSql;

/** How a query reads events: `textSql` returns the column `_text` of an event, and `readTable` the rows of a dataset. */
export type Reading = { textSql?: TextSql; readTable?: (dataset: string, table: TableSource) => SqlText };

/** Plans an inspected query over a window. */
export function createSearchPlan(
  inspected: InspectedQuery,
  contents: DatasetContents,
  window: QueryWindow,
  reading: Reading = {},
): SearchPlan {
  const emptyDatasets = distinctDatasets(inspected.sources).filter((dataset) => !contents.fields.has(dataset));
  const tables = { fields: contents.fields, sources: inspected.sources, lists: inspected.lists };
  const shadowed = (): UnknownColumns => findShadowedColumns(inspected.inspection, tables);
  const job = (unknown = shadowed()) => buildJob(inspected, contents, { window, unknown, ...reading });
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
  if (emptyDatasets.length > 0 && contents.fields.size === 0)
    return emptyResult(emptyDatasets, contents, { aggregate, began });
  try {
    const run = { timeoutMs: limits.timeoutMs, ...(signal ? { signal } : {}) };
    const { result, unknown } = await runWithUnknownColumns({ inspected, contents }, plan.buildJob, (job) =>
      engine.query(
        organization,
        { ...job, rowsMax: resultRowsMax(inspected, limits), bytesMax: limits.bytesMax ?? bytesMax },
        run,
      ),
    );
    return toSearchResult(plan, { result, unknown, began });
  } catch (error) {
    const explained = explainUnknownColumn(error, contents.fields);
    if (emptyDatasets.length > 0 && isColumnError(explained))
      return emptyResult(emptyDatasets, contents, { aggregate, began });
    throw explained;
  }
}

/** Returns the result of a query of datasets that never had an event. */
export const emptyResult = (
  emptyDatasets: string[],
  contents: DatasetContents,
  { aggregate, began }: { aggregate: boolean; began: number },
): SearchResult => ({
  rows: [],
  total: 0,
  truncated: false,
  aggregate,
  noData: true,
  early: contents.early,
  ms: performance.now() - began,
  warnings: describeEmptyDatasets(emptyDatasets, contents),
});

/** Returns how many rows or groups a query may return. */
export const resultRowsMax = (
  { inspection }: InspectedQuery,
  { rowsMax, groupsMax }: Pick<SearchLimits, 'rowsMax' | 'groupsMax'>,
): number => (inspection.aggregate ? groupsMax : rowsMax);

type EngineOutcome = { result: { rows: QueryRow[] } & Omit<QueryEnd, 'times'>; unknown: Warnings; began: number };

/** Returns the result of a search with the warnings about its query and its data. */
export function toSearchResult(
  { inspected, contents, emptyDatasets }: Omit<SearchPlan, 'buildJob'>,
  { result, unknown, began }: EngineOutcome,
): SearchResult {
  const { failedValues, ...found } = result;
  return {
    ...found,
    // Groups with an `_id` column count as events.
    aggregate: inspected.inspection.aggregate && !(found.rows[0] && '_id' in found.rows[0]),
    noData: emptyDatasets.length > 0,
    early: contents.early,
    kinds: toColumnKinds(inspected.inspection.outputs, found.columns.length),
    ms: performance.now() - began,
    warnings: [
      ...describeEmptyDatasets(emptyDatasets, contents),
      ...unknown,
      ...describeDrift(contents, listUsedNames(inspected.inspection)),
      ...describeFailedValues(failedValues),
    ],
  };
}

/** Returns a warning for each dataset that never had an event, with the nearest name. */
export const describeEmptyDatasets = (datasets: string[], { otherDatasets }: DatasetContents): Warnings =>
  datasets.map((dataset) => ({
    code: 'no_data',
    detail: `Dataset ${dataset} has never received an event${didYouMean(dataset, otherDatasets)}`,
  }));

type Warnings = NonNullable<SearchResult['warnings']>;

/**
 * Runs a job, and again with each column that the engine reports as missing as null. Decides what an unknown column means for runs, previews,
 * searches and checks alike: a warning, or none for an alternative, and an error only if no table can have the column. `known` are those that an
 * earlier search with the same columns was missing, and `missing` those of this one.
 */
export async function runWithUnknownColumns<Job extends { unknownPaths: UnknownPath[] }, Result>(
  { inspected, contents }: Pick<SearchPlan, 'inspected' | 'contents'>,
  buildJob: (unknown: UnknownColumns) => Job,
  run: (job: Omit<Job, 'unknownPaths'>) => Promise<Result>,
  known?: UnknownColumns,
): Promise<{ result: Result; unknown: Warnings; missing: UnknownColumns }> {
  const tables = { fields: contents.fields, sources: inspected.sources, lists: inspected.lists };
  const unknown = known ? structuredClone(known) : findShadowedColumns(inspected.inspection, tables);
  for (;;) {
    const { unknownPaths, ...job } = buildJob(unknown);
    try {
      return {
        result: await run(job),
        missing: unknown,
        unknown: describeUnknown(unknown, unknownPaths, { ...tables, optional: inspected.inspection.optional }),
      };
    } catch (error) {
      if (!addUnknownColumn(unknown, error, tables)) throw error;
    }
  }
}

/** Returns a warning about values of the used columns that do not fit them. Without `used`, all columns are used. */
export function describeDrift(contents: DatasetContents, used: ReadonlySet<string> | undefined): Warnings {
  const counts = [...contents.drift].flatMap(([dataset, columns]) =>
    [...columns]
      .filter(([column]) => column === otherColumns || used === undefined || used.has(column.toLowerCase()))
      .map(([column, count]) => ({ dataset, column, count })),
  );
  if (counts.length === 0) return [];
  const parts = counts.map(({ dataset, column, count }) =>
    column === otherColumns ? `${count} of other columns of ${dataset}` : `${count} of ${dataset}.${column}`,
  );
  const example = counts.find(({ column }) => column !== otherColumns)?.column ?? 'name';
  const detail = `Values that do not fit their column are null in it: ${parts.join(', ')}. Read them as text, for example _text.${example}.`;
  return [{ code: 'type_drift', detail }];
}

function describeFailedValues(message: string | undefined): Warnings {
  if (message === undefined) return [];
  return [{ code: 'failed_values', detail: `Expressions that a value or its type made fail are null. ${message}` }];
}

function buildJob(
  { query, inspection, sources, lists }: InspectedQuery,
  contents: DatasetContents,
  {
    window,
    unknown,
    textSql = eventTextSql,
    readTable = (_, table) => tableSql(table),
  }: Reading & { window: QueryWindow; unknown: UnknownColumns },
): QueryJob & { unknownPaths: UnknownPath[] } {
  const tables = sources.map((source) => ({
    name: source.name,
    sql: readTable(source.dataset, toTableSource(inspection, contents, { source, unknown, textSql })),
  }));
  const bounds = { from: window.from.toISOString(), to: window.to.toISOString() };
  return { ...buildStatement({ query, inspection, lists }, contents, unknown), tables, bounds };
}

/** Returns what a query reads of a dataset. */
function toTableSource(
  inspection: Inspection,
  contents: DatasetContents,
  { source, unknown, textSql }: { source: QuerySource; unknown: UnknownColumns; textSql: TextSql },
): TableSource {
  const usedNames = listUsedNames(inspection);
  const text = readsEventText(inspection) ? [{ name: textColumn, valueSql: textSql }] : [];
  return {
    columns: contents.fields.get(source.dataset) ?? [],
    extra: [
      ...text,
      ...listExtraColumns(unknown, source, contents.fields),
      ...listRespelledColumns(inspection, contents.fields.get(source.dataset) ?? []),
    ],
    scans: contents.scans.get(source.name) ?? [],
    eventAsText: inspection.eventAsText && usedNames !== undefined,
    usedNames,
    hiddenFields: contents.hiddenFields,
  };
}

/** Builds a job that reads the rows of several windows at once. `buildJob` of a plan builds that of one. */
export function buildWindowsJob(
  { query, inspection, sources, lists }: InspectedQuery,
  contents: DatasetContents,
  { windows, unknown }: { windows: readonly QueryWindow[]; unknown: UnknownColumns },
): WindowsJob & { unknownPaths: UnknownPath[] } {
  const tables = sources.map((source) => {
    const table = toTableSource(inspection, contents, { source, unknown, textSql: eventTextSql });
    const names = new Set([...table.columns.map(({ name }) => name), ...table.extra.map(({ name }) => name)]);
    let slotColumn = '_slot';
    while ([...names].some((name) => name.toLowerCase() === slotColumn)) slotColumn += '_';
    const extra = table.extra.filter(({ valueSql }) => !valueSql);
    return { name: source.name, rows: rowsSql({ ...table, slotColumn }), slotColumn, extra };
  });
  const bounds = windows.map(({ from, to }) => ({ from: from.toISOString(), to: to.toISOString() }));
  const { unknownPaths, ...statement } = buildStatement({ query, inspection, lists }, contents, unknown);
  return { query: statement, tables, windows: bounds, unknownPaths };
}

function buildStatement(
  { query, inspection, lists }: Omit<InspectedQuery, 'sources'>,
  contents: DatasetContents,
  unknown: UnknownColumns,
): Omit<QueryJob, 'tables' | 'bounds'> & { unknownPaths: UnknownPath[] } {
  const fields = [...contents.fields.values()].flat();
  const nested = findReplacements(inspection, { fields, unknownHeads: unknown.heads });
  const spellings = findKeySpellings(inspection.jsonPaths, contents.fields);
  return {
    sql: query,
    ...(nested.replacements.length > 0 ? { replacements: nested.replacements } : {}),
    ...(spellings ? { spellings } : {}),
    ...(lists.length > 0 ? { lists } : {}),
    aggregate: inspection.aggregate,
    mode: 'rows',
    rowsMax: 0,
    bytesMax,
    unknownPaths: nested.unknown,
  };
}
