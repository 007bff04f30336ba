import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { loadCatalog } from '../catalog/catalog.store.ts';
import type { CatalogField } from '../catalog/catalog.ts';
import { listDatasets } from '../catalog/list-datasets.ts';
import { logFolderPath, type SearchDeps } from '../log-folder.ts';
import { sealDatasets } from '../ingestion/publish-batch.ts';
import {
  distinctDatasets,
  inspectQuery,
  explainUnknownColumn,
  createSearchPlan,
  runSearchPlan,
  type DatasetContents,
  type SearchPlan,
  type QuerySource,
} from './inspect-query.ts';
import {
  findDatasetStates,
  findFirstEventAt,
  hasSegments,
  listDatasetNames,
  listSegments,
  type SegmentFilter,
  type SegmentRow,
} from '../storage/segments.store.ts';
import { endOfTime, historyFilter, planScans, windowFilter } from './window-scans.ts';

/**
 * Runs a query over one window of the organization's events. On the clock `ingest` its datasets are sealed at the window's end first, so that
 * nothing can appear in the window afterwards. A dataset that never had an event is empty, and the result says `noData`.
 * Throws a SiemError: query_not_allowed, query_error, unknown_column, query_timeout, query_memory (blame author), engine_failed (blame us).
 */
export async function searchLogs(
  deps: SearchDeps,
  orgId: OrgId,
  input: { query: string; window: QueryWindow; limits: SearchLimits; segments?: SegmentRow[] },
  signal?: AbortSignal,
): Promise<SearchResult> {
  const began = performance.now();
  const plan = await planSearch(deps, orgId, input, signal);
  return runSearchPlan(deps, orgId, plan, { limits: input.limits, signal, began });
}

/**
 * What a search does before the engine runs it: the query is inspected, its window sealed, its segments listed, unless the
 * caller names them.
 */
export async function planSearch(
  deps: SearchDeps,
  orgId: OrgId,
  { query, window, segments }: { query: string; window: QueryWindow; segments?: SegmentRow[] },
  signal?: AbortSignal,
): Promise<SearchPlan> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  const { sources } = inspected;
  if (window.clock === 'ingest' && !segments) {
    await inOrg(deps.db, orgId, (tx) => sealDatasets(tx, orgId, distinctDatasets(sources), window.to));
  }
  const folder = logFolderPath(deps.config.dataDir, orgId);
  const held = await inOrg(deps.db, orgId, (tx) => hold(tx, orgId, { sources, window, folder, segments }));
  return createSearchPlan(inspected, held, window);
}

/** Checks a query without its rows: it is parsed, held against the allow-lists and bound to the datasets' columns. Throws as `searchLogs`. */
export async function checkLogsQuery(
  deps: SearchDeps,
  orgId: OrgId,
  query: string,
  signal?: AbortSignal,
): Promise<void> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  const now = deps.clock();
  const window: QueryWindow = { from: now, to: now, clock: 'event' };
  const held = await inOrg(deps.db, orgId, (tx) =>
    hold(tx, orgId, { sources: inspected.sources, window, folder: '', segments: [] }),
  );
  const { empty, job } = createSearchPlan(inspected, held, window);
  if (empty.length > 0) return;
  try {
    await deps.engine.query(orgId, { ...job(), mode: 'check' }, { timeoutMs: 10_000, ...(signal ? { signal } : {}) });
  } catch (error) {
    throw explainUnknownColumn(error, held);
  }
}

/** The time of the oldest event of the datasets that a query reads, of those ingested in time; null where they have none. Throws as `searchLogs`. */
export async function findOldestEventTime(
  deps: SearchDeps,
  orgId: OrgId,
  { query, ingestedBefore = endOfTime }: { query: string; ingestedBefore?: Date | undefined },
  signal?: AbortSignal,
): Promise<Date | null> {
  const datasets = distinctDatasets((await inspectQuery(deps, orgId, query, signal)).sources);
  return inOrg(deps.db, orgId, (tx) => findFirstEventAt(tx, orgId, datasets, ingestedBefore));
}

/** The datasets with their columns, as a connection tells them. */
export async function listLogFields(
  deps: SearchDeps,
  orgId: OrgId,
): Promise<{ dataset: string; fields: { name: string; type: string }[] }[]> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns }) => ({ dataset: name, fields: columns }));
}

/** The columns that the organization's datasets have, of those that ever had an event. */
export async function loadDatasetFields(
  deps: SearchDeps,
  orgId: OrgId,
  datasets: string[],
): Promise<Map<string, CatalogField[]>> {
  return inOrg(deps.db, orgId, (tx) => loadFields(tx, orgId, datasets));
}

async function loadFields(tx: Tx, orgId: OrgId, datasets: string[]): Promise<Map<string, CatalogField[]>> {
  const fields = new Map<string, CatalogField[]>();
  for (const { name, version, events } of await findDatasetStates(tx, orgId, datasets))
    if (events > 0) fields.set(name, await loadCatalog(tx, orgId, name, version));
  return fields;
}

/** What the query's datasets hold now: their columns, and the files that the window needs and no others. */
async function hold(
  tx: Tx,
  orgId: OrgId,
  input: { sources: QuerySource[]; window: QueryWindow; folder: string; segments?: SegmentRow[] | undefined },
): Promise<DatasetContents> {
  const { sources, window, folder } = input;
  const datasets = distinctDatasets(sources);
  const held: DatasetContents = {
    fields: await loadFields(tx, orgId, datasets),
    parts: new Map(),
    others: [],
    early: false,
  };
  let isEmpty = true;
  for (const history of [false, true]) {
    const wanted = sources.filter((source) => source.history === history && held.fields.has(source.dataset));
    if (wanted.length === 0) continue;
    const filter: SegmentFilter = history ? historyFilter(window) : windowFilter(window);
    const segments = input.segments ?? (await listSegments(tx, orgId, distinctDatasets(wanted), filter));
    isEmpty &&= segments.length === 0;
    for (const { name, dataset } of wanted)
      held.parts.set(
        name,
        planScans(
          filter,
          segments.filter((segment) => segment.dataset === dataset),
          folder,
        ),
      );
  }
  const untilEnd = historyFilter({ ...window, from: window.to });
  if (isEmpty && !input.segments) held.early = !(await hasSegments(tx, orgId, datasets, untilEnd));
  if (held.fields.size < datasets.length) held.others = await listDatasetNames(tx, orgId);
  return held;
}
