import { inOrg, type Db, type Tx } from '../../../platform/db/db.ts';
import type { Clock } from '../../../platform/lib/time/clock.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import {
  type HiddenData,
  containsHiddenField,
  hidesNothing,
  isHiddenDataset,
  isHiddenField,
} from '../../siem/hidden-data.ts';
import type { QueryCheck, QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { loadCatalog, sealDatasets, type CatalogCache } from '../../log-store/catalog/catalog.store.ts';
import type { FieldsByDataset, CatalogField } from '../../log-store/catalog/catalog.ts';
import type { LogEngine } from '../../log-engine/process/engine.ts';
import {
  findDatasetStates,
  findFirstEventAt,
  hasSegments,
  listDatasetNames,
  listSegments,
  type BoundedSegment,
  type SegmentRow,
} from '../../log-store/segments.store.ts';
import type { SegmentStore } from '../../log-store/files/segment-store.ts';
import { promptMs } from '../../log-engine/sql/sql-text.ts';
import { withQueryFiles, endOfTime, historyFilter, planScans, windowFilter } from './window-scans.ts';
import { distinctDatasets, inspectQuery, type QuerySource, type InspectedQuery } from './inspect-query.ts';
import {
  createSearchPlan,
  describeEmptyDatasets,
  runSearchPlan,
  runWithUnknownColumns,
  type DatasetContents,
  type DriftCounts,
  type SearchPlan,
} from './search-plan.ts';
import type { QueryShapes } from './run-together.ts';
import { explainUnknownColumn } from './unknown-columns.ts';
import { queryNotAllowed } from '../../log-engine/engine-failures.ts';
import { keysOf, parseSteps } from '../../log-engine/json-paths.ts';

/** `clock` is slot time. */
export type SearchLogsDeps = {
  db: Db;
  clock: Clock;
  segmentStore: SegmentStore;
  engine: LogEngine;
  logCatalogs: CatalogCache;
  queryShapes: QueryShapes;
};

/**
 * Runs a query over one window of the organization's events. On the clock `ingest`, seals the datasets at the window's end first, so that no
 * event can appear in the window afterwards. A dataset that never had an event is treated as empty, and the result has `noData` set.
 * `segments` limits the search to these segments. A column that no event has is null, with a warning. Throws a SiemError:
 * query_not_allowed, query_error, unknown_column, query_timeout and query_memory (blame author), data_error (blame data), or engine_failed
 * (blame service).
 */
export async function searchLogs(
  deps: SearchLogsDeps,
  orgId: OrgId,
  input: { query: string; window: QueryWindow; limits: SearchLimits; segments?: SegmentRow[] },
  signal?: AbortSignal,
): Promise<SearchResult> {
  const began = performance.now();
  const { hidden } = input.limits;
  const plan = await planSearch(deps, orgId, { ...input, hidden }, signal);
  return withQueryFiles(deps.segmentStore, orgId, plan.contents.segments, () =>
    runSearchPlan(deps, orgId, plan, { limits: input.limits, signal, began }),
  );
}

/** Prepares a search: inspects the query, seals its window, and lists the segments to read unless `segments` are given. */
export async function planSearch(
  deps: SearchLogsDeps,
  orgId: OrgId,
  {
    query,
    window,
    segments,
    hidden,
  }: { query: string; window: QueryWindow; segments?: SegmentRow[]; hidden?: HiddenData | undefined },
  signal?: AbortSignal,
): Promise<SearchPlan> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  const { sources, lookbackMs } = inspected;
  const contents = await loadContents(deps, orgId, { sources, window, segments, lookbackMs });
  return createSearchPlan(inspected, hideData(inspected, contents, hidden), window);
}

/**
 * Checks a query without reading rows: parses it, checks it against the allow-lists, and binds it to the datasets' columns. Returns its
 * columns, and warnings about datasets and columns that never had an event. Throws the same errors as `searchLogs`.
 */
export async function checkLogsQuery(
  deps: SearchLogsDeps,
  orgId: OrgId,
  query: string,
  signal?: AbortSignal,
): Promise<QueryCheck> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  const now = deps.clock();
  const window: QueryWindow = { from: now, to: now, clock: 'event' };
  const contents = await loadContents(deps, orgId, { sources: inspected.sources, window, segments: [] });
  const plan = createSearchPlan(inspected, contents, window);
  const { emptyDatasets } = plan;
  const { crossEventPart } = inspected.inspection;
  // Without data, the columns are unknown.
  if (emptyDatasets.length > 0)
    return {
      noData: true,
      columns: null,
      warnings: describeEmptyDatasets(emptyDatasets, contents),
      crossEventPart,
    };
  const run = { timeoutMs: 10_000, ...(signal ? { signal } : {}) };
  try {
    const { result, unknown } = await runWithUnknownColumns(plan, plan.buildJob, (job) =>
      deps.engine.query(orgId, { ...job, mode: 'check' }, run),
    );
    return { noData: false, columns: result.columns, warnings: unknown, crossEventPart };
  } catch (error) {
    throw explainUnknownColumn(error, contents.fields);
  }
}

/**
 * Returns the time of the oldest event in the datasets that a query reads, or null if they have none. Considers only segments with an event
 * ingested before `ingestedBefore`. Throws query_not_allowed and query_error.
 */
export async function findOldestEventTime(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { query, ingestedBefore = endOfTime }: { query: string; ingestedBefore?: Date | undefined },
  signal?: AbortSignal,
): Promise<Date | null> {
  const datasets = distinctDatasets((await inspectQuery(deps, orgId, query, signal)).sources);
  return inOrg(deps.db, orgId, (tx) => findFirstEventAt(tx, orgId, datasets, ingestedBefore));
}

/** Returns the fields of those of the given datasets that have had an event. */
export async function loadFields(
  tx: Tx,
  logCatalogs: CatalogCache,
  orgId: OrgId,
  datasets: string[],
): Promise<FieldsByDataset> {
  const fields: FieldsByDataset = new Map();
  for (const { name, version, events } of await findDatasetStates(tx, orgId, datasets))
    if (events > 0) fields.set(name, await loadCatalog(tx, logCatalogs, { orgId, dataset: name, version }));
  return fields;
}

/** Returns whether a window must not get further events: a scheduled one. One that is examined again is examined once more if it does. */
const isSealed = ({ clock, ingestedBefore, to }: QueryWindow): boolean =>
  clock === 'ingest' || (clock === 'slot' && ingestedBefore?.getTime() === to.getTime());

/** Seals a window if need be, loads the fields of a query's datasets, and plans the scans of exactly the files that the window needs. */
function loadContents(
  { db, segmentStore, logCatalogs }: SearchLogsDeps,
  orgId: OrgId,
  input: {
    sources: QuerySource[];
    window: QueryWindow;
    segments?: SegmentRow[] | undefined;
    lookbackMs?: number | undefined;
  },
): Promise<DatasetContents> {
  const { sources, window } = input;
  const folder = segmentStore.folderOf(orgId);
  const datasets = distinctDatasets(sources);
  return inOrg(db, orgId, async (tx) => {
    if (!input.segments && isSealed(window)) await sealDatasets(tx, orgId, datasets, window.to);
    const fields = await loadFields(tx, logCatalogs, orgId, datasets);
    const contents: DatasetContents = {
      fields,
      scans: new Map(),
      segments: [],
      drift: new Map(),
      otherDatasets: [],
      early: false,
    };
    let isEmpty = true;
    for (const history of [false, true]) {
      const selected = sources.filter((source) => source.history === history && fields.has(source.dataset));
      if (selected.length === 0) continue;
      const filter = history ? historyFilter(window, input.lookbackMs) : windowFilter(window);
      const segments = input.segments ?? (await listSegments(tx, orgId, distinctDatasets(selected), filter));
      isEmpty &&= segments.length === 0;
      contents.segments.push(...segments);
      if (!history) {
        contents.drift = sumDrift(segments);
        Object.assign(contents, findLateFrom(segments));
      }
      for (const { name, dataset } of selected) {
        const datasetSegments = segments.filter((segment) => segment.dataset === dataset);
        contents.scans.set(name, planScans(filter, datasetSegments, folder));
      }
    }
    const beforeEnd = historyFilter({ ...window, from: window.to });
    if (isEmpty && !input.segments) contents.early = !(await hasSegments(tx, orgId, datasets, beforeEnd));
    if (fields.size < datasets.length) contents.otherDatasets = await listDatasetNames(tx, orgId);
    return contents;
  });
}

/** Returns the earliest time of an event in the segments with events that may be late. Empty if there are none. */
export function findLateFrom(segments: readonly SegmentRow[]): Pick<DatasetContents, 'lateFrom'> {
  const times = segments
    .filter((segment): segment is BoundedSegment => 'timeFrom' in segment)
    .filter(({ ingestedTo, timeFrom }) => ingestedTo.getTime() - timeFrom.getTime() > promptMs)
    .map(({ timeFrom }) => timeFrom.getTime());
  return times.length === 0 ? {} : { lateFrom: new Date(Math.min(...times)) };
}

/** Adds up what the segments store about values that did not fit. A compacted segment may have rows outside the window. */
export function sumDrift(segments: readonly SegmentRow[]): DriftCounts {
  const drift: DriftCounts = new Map();
  for (const { dataset, drift: text } of segments) {
    if (text === null) continue;
    const columns = drift.get(dataset) ?? new Map<string, number>();
    drift.set(dataset, columns);
    for (const [column, count] of Object.entries(JSON.parse(text) as Record<string, number>))
      columns.set(column, (columns.get(column) ?? 0) + count);
  }
  return drift;
}

/**
 * Returns the contents that a query may read without what is hidden: no column and no event has a hidden field, so `*`, whole rows and JSON readers
 * cannot return one, nor compare with it. Throws `query_not_allowed` for a query that names a hidden dataset or field, to say why it finds nothing.
 */
export function hideData(
  { inspection, sources, lists }: InspectedQuery,
  contents: DatasetContents,
  hidden: HiddenData | undefined,
): DatasetContents {
  if (!hidden || hidesNothing(hidden)) return contents;
  const dataset = sources.find((source) => isHiddenDataset(source.dataset, hidden))?.dataset;
  if (dataset !== undefined) throw queryNotAllowed(`The organization keeps the dataset ${dataset} from models.`);
  const paths = inspection.jsonPaths.flatMap((path) => keysOf(parseSteps(path) ?? []).join('.'));
  const columns = inspection.columns.flatMap((names) => [names.join('.'), names.slice(1).join('.')]);
  const field = [...paths, ...columns].find((name) => isHiddenField(name, hidden));
  const listed = lists.flatMap((list) => list.columns).find((name) => isHiddenField(name, hidden));
  const kept = field ?? listed;
  if (kept !== undefined) throw queryNotAllowed(`The organization keeps the field ${kept} from models.`);
  const fields = [...contents.fields].map(([name, list]) => [name, hideFields(list, '', hidden)] as const);
  const otherDatasets = contents.otherDatasets.filter((name) => !isHiddenDataset(name, hidden));
  return { ...contents, fields: new Map(fields), otherDatasets, hiddenFields: hidden.fields };
}

function hideFields(fields: readonly CatalogField[], prefix: string, hidden: HiddenData): CatalogField[] {
  return fields
    .filter(({ name }) => !isHiddenField(prefix + name, hidden))
    .map((field) => {
      const path = prefix + field.name;
      return containsHiddenField(path, hidden)
        ? { ...field, nested: hideFields(field.nested, `${path}.`, hidden) }
        : field;
    });
}
