import { LRUCache } from 'lru-cache';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { SiemError, type SearchLimits, type SearchResult, type SharedRequest } from '../../siem/connector.ts';
import { engineError } from '../../log-engine/engine-failures.ts';
import { listUsedNames, readsEventText } from '../../log-engine/inspection/inspection.ts';
import type { LogEngine } from '../../log-engine/process/engine.ts';
import { storedName, type BatchResult, type QueryJob } from '../../log-engine/queries/protocol.ts';
import { rowsSql, storedTableSql, tableSql, type TableSource } from '../../log-engine/sql/table-sql.ts';
import { isCatalogFull, type CatalogField } from '../../log-store/catalog/catalog.ts';
import type { SegmentStore } from '../../log-store/files/segment-store.ts';
import type { DatasetSegments } from '../../log-store/segments.store.ts';
import type { InspectedQuery, QuerySource } from './inspect-query.ts';
import {
  createSearchPlan,
  emptyResult,
  resultRowsMax,
  runWithUnknownColumns,
  toSearchResult,
  type DatasetContents,
} from './search-plan.ts';
import { ruleOutEvents, type RuledOutQuery } from './rule-out-events.ts';
import type { UnknownColumns } from './unknown-columns.ts';
import { withQueryFiles } from './window-scans.ts';

/** Windows with more events are not stored for their queries, each of which then reads the files. */
const storedMax = { rows: 50_000, bytes: 32 * 1024 * 1024 };
/** A query of a batch that returns more is searched alone, so that a batch has at most a hundred times as much in memory. */
const resultMax = { rows: 1_000, bytes: 1024 * 1024 };
/** How long one query of a batch may take, how long the engine begins others in one call, and how long there are further calls. */
const [queryMs, turnMs, batchMs, timeoutMs] = [5_000, 2_000, 10_000, 60_000];
/** How long a query that was too slow or returned too much for a batch is searched alone. */
const aloneForMs = 6 * 3_600_000;

/** The columns of a query's result and those that no event has, which are known before events are read. */
type QueryShape = { columns: string[]; unknown: UnknownColumns };

/**
 * Shapes by the columns of the datasets and the query, on which alone they depend, so that organizations with the same ones share them. `alone`, by
 * organization and query: the query cannot run in a batch.
 */
export type QueryShapes = LRUCache<string, QueryShape | 'alone'>;

const shapesCharsMax = 16 * 1024 * 1024;

export const createQueryShapes = (): QueryShapes =>
  new LRUCache({
    maxSize: shapesCharsMax,
    sizeCalculation: (shape, key) => key.length + (shape === 'alone' ? 0 : shape.columns.join().length) + 100,
  });

/** A request with its place in the list. */
export type TogetherRequest = SharedRequest & { index: number; inspected: InspectedQuery };

/** A request with what it reads. `columnsKey` identifies the columns of its datasets. `rule`: how late events count. */
export type PlannedRequest = {
  request: TogetherRequest;
  contents: DatasetContents;
  segments: DatasetSegments['segments'];
  columnsKey: string;
  rule: string;
};

/** Runs planned requests of one window. Returns their results in order. One that fails or is slow has none. */
export async function runTogether(
  deps: { engine: LogEngine; segmentStore: SegmentStore; queryShapes: QueryShapes },
  orgId: OrgId,
  { planned, limits }: { planned: readonly PlannedRequest[]; limits: SearchLimits },
  signal: AbortSignal,
): Promise<(SearchResult | undefined)[]> {
  const stored = storeTables(planned);
  const segments = [...new Map(planned.flatMap((one) => one.segments).map((one) => [one.id, one])).values()];
  const submit = createBatcher((queries) =>
    deps.engine.batch(orgId, { stored: stored.selects, queries, queryMs, turnMs }, { timeoutMs, signal }),
  );
  return withQueryFiles(deps.segmentStore, orgId, segments, async () => {
    const filters = planned.map((one) => (findShape(deps.queryShapes, one) ? readFilter(one) : undefined));
    const ruledOut = await ruleOutEvents(filters, deps.segmentStore.folderOf(orgId));
    signal.throwIfAborted();
    return Promise.all(
      planned.map((one, at) =>
        runOne(
          { one, isRuledOut: ruledOut[at]!, limits, submit, readTable: stored.readTable },
          deps.queryShapes,
          orgId,
        ),
      ),
    );
  }).catch((error: unknown) => (ignoreFailure(error), []));
}

const shapeKey = ({ columnsKey, request }: PlannedRequest): string => `${columnsKey}\n${request.query}`;

function findShape(shapes: QueryShapes, one: PlannedRequest): QueryShape | undefined {
  const shape = shapes.get(shapeKey(one));
  return shape === 'alone' ? undefined : shape;
}

/** Returns the filter of a query over single events, or undefined for another query. */
function readFilter({ request, contents, segments }: PlannedRequest): RuledOutQuery | undefined {
  const { inspection, sources } = request.inspected;
  if (inspection.crossEventPart !== null) return undefined;
  const [{ name, dataset }] = sources as [QuerySource];
  const fields = contents.fields.get(dataset);
  return fields && { filter: inspection.filters[name]!, dataset, fields, segments };
}

type RunOptions = {
  one: PlannedRequest;
  isRuledOut: boolean;
  limits: SearchLimits;
  submit: SubmitQuery;
  readTable: StoredTables['readTable'];
};

/** Returns the result of a query, which needs the engine unless the columns of the result are known and no event can be in it. */
async function runOne(
  { one, isRuledOut, limits, submit, readTable }: RunOptions,
  shapes: QueryShapes,
  orgId: OrgId,
): Promise<SearchResult | undefined> {
  const began = performance.now();
  const { request, contents, rule } = one;
  const { inspected, window } = request;
  const { inspection } = inspected;
  const plan = createSearchPlan(inspected, contents, window, {
    readTable: (name, table) => readTable(name, rule, table),
  });
  const { emptyDatasets } = plan;
  if (emptyDatasets.length > 0) return emptyResult(emptyDatasets, contents, { aggregate: inspection.aggregate, began });
  const aloneKey = `${orgId}\n${request.query}`;
  if (shapes.get(aloneKey) === 'alone') return undefined;
  const shape = findShape(shapes, one);
  const isEmpty = contents.segments.length === 0 && inspection.crossEventPart === null;
  const run: SubmitQuery = (job) =>
    shape && (isEmpty || isRuledOut)
      ? Promise.resolve({ rows: [], total: 0, truncated: false, columns: shape.columns })
      : submit({
          ...job,
          rowsMax: Math.min(resultRowsMax(inspected, limits), resultMax.rows),
          bytesMax: resultMax.bytes,
        });
  try {
    const { result, unknown, missing } = await runWithUnknownColumns(plan, plan.buildJob, run, shape?.unknown);
    if (!shape) shapes.set(shapeKey(one), { columns: result.columns, unknown: missing });
    return toSearchResult(plan, { result, unknown, began });
  } catch (error) {
    if (error instanceof SiemError && ['query_timeout', 'query_memory'].includes(error.failure.kind))
      shapes.set(aloneKey, 'alone', { ttl: aloneForMs });
    return ignoreFailure(error);
  }
}

type StoredTables = {
  selects: ReturnType<typeof rowsSql>[];
  /** Returns the SQL of a dataset for a query. */
  readTable: (dataset: string, rule: string, table: TableSource) => ReturnType<typeof rowsSql>;
};

/** Plans which datasets are read once: small ones that several queries read under the same rule for late events. */
function storeTables(planned: readonly PlannedRequest[]): StoredTables {
  const keyOf = (dataset: string, rule: string): string => `${dataset} ${rule}`;
  const readers = Map.groupBy(
    planned.flatMap((one) => [...one.contents.fields.keys()].map((dataset) => ({ dataset, one }))),
    ({ dataset, one }) => keyOf(dataset, one.rule),
  );
  const selects: StoredTables['selects'] = [];
  const indexes = new Map<string, number>();
  for (const [key, own] of readers) {
    const { dataset, one } = own[0]!;
    const segments = one.segments.filter((segment) => segment.dataset === dataset);
    const sum = (of: 'rows' | 'bytes'): number => segments.reduce((total, segment) => total + segment[of], 0);
    if (own.length < 2 || segments.length === 0 || sum('rows') > storedMax.rows || sum('bytes') > storedMax.bytes)
      continue;
    const columns = one.contents.fields.get(dataset)!;
    const usedNames = joinUsedNames(
      own.map(({ one: { request } }) => request.inspected),
      columns,
    );
    const scans = one.contents.scans.get(dataset)!;
    indexes.set(key, selects.push(rowsSql({ columns, extra: [], scans, eventAsText: true, usedNames })) - 1);
  }
  return {
    selects,
    readTable: (dataset, rule, table) => {
      const index = indexes.get(keyOf(dataset, rule));
      return index === undefined ? tableSql(table) : storedTableSql(table, storedName(index));
    },
  };
}

/** Returns the names that any of the queries uses, or undefined if one of them reads all columns. */
function joinUsedNames(queries: readonly InspectedQuery[], fields: CatalogField[]): ReadonlySet<string> | undefined {
  const joined = new Set<string>();
  // A full catalog does not list all keys, so that they may be read from the event.
  if (isCatalogFull(fields)) joined.add('_event');
  for (const { inspection } of queries) {
    const used = listUsedNames(inspection);
    if (used === undefined) return undefined;
    for (const name of used) joined.add(name);
    if (readsEventText(inspection)) joined.add('_event');
  }
  return joined;
}

type QueryResult = Extract<BatchResult, { rows: unknown }>;

type SubmitQuery = (job: QueryJob) => Promise<QueryResult>;

type WaitingQuery = { job: QueryJob; settle: PromiseWithResolvers<QueryResult> };

/**
 * Returns a function that runs a query together with those that are submitted in the same turn of the event loop. The engine may work for others
 * between two calls. Throws a SiemError.
 */
function createBatcher(runBatch: (jobs: QueryJob[]) => Promise<BatchResult[]>): SubmitQuery {
  const began = performance.now();
  let waiting: WaitingQuery[] = [];
  const submit = (query: WaitingQuery): void => {
    if (waiting.length === 0) setImmediate(() => void flush());
    waiting.push(query);
  };
  const flush = async (): Promise<void> => {
    const batch = waiting;
    waiting = [];
    try {
      const results = await runBatch(batch.map(({ job }) => job));
      const mayContinue = performance.now() - began < batchMs;
      for (const [index, query] of batch.entries()) {
        const result = results[index];
        if (result && !('failure' in result)) query.settle.resolve(result);
        else if (result) query.settle.reject(new SiemError(result.failure));
        else if (mayContinue) submit(query);
        else query.settle.reject(engineError('The batch took too long.'));
      }
    } catch (error) {
      for (const { settle } of batch) settle.reject(error);
    }
  };
  return (job) => {
    const settle = Promise.withResolvers<QueryResult>();
    submit({ job, settle });
    return settle.promise;
  };
}

/** Rethrows an error that is no SiemError. */
export function ignoreFailure(error: unknown): undefined {
  if (!(error instanceof SiemError)) throw error;
}
