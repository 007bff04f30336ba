import { inOrg, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { QueryWindow, SearchLimits, SearchResult } from '../../siem/connector.ts';
import { loadCatalogue } from '../catalog/catalog.store.ts';
import type { Field } from '../catalog/catalog.ts';
import { listDatasets } from '../catalog/list-datasets.ts';
import { folderOf, type SearchDeps } from '../log-deps.ts';
import { sealDatasets } from '../ingestion/publish-batch.ts';
import {
  datasetsOf,
  inspectQuery,
  named,
  planOf,
  runPlan,
  type Held,
  type Plan,
  type Source,
} from './inspect-query.ts';
import {
  findDatasets,
  findFirstEventAt,
  hasSegments,
  listDatasetNames,
  listSegments,
  type SegmentFilter,
  type SegmentRow,
} from '../storage/segments.store.ts';
import { endOfTime, historyFilter, partsOf, windowFilter } from './window-parts.ts';

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
  return runPlan(deps, orgId, plan, { limits: input.limits, signal, began });
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
): Promise<Plan> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  const { sources } = inspected;
  if (window.clock === 'ingest' && !segments) {
    await inOrg(deps.db, orgId, (tx) => sealDatasets(tx, orgId, datasetsOf(sources), window.to));
  }
  const folder = folderOf(deps.config.dataDir, orgId);
  const held = await inOrg(deps.db, orgId, (tx) => hold(tx, orgId, { sources, window, folder, segments }));
  return planOf(inspected, held, window);
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
  const { empty, job } = planOf(inspected, held, window);
  if (empty.length > 0) return;
  try {
    await deps.engine.query(orgId, { ...job(), mode: 'check' }, { timeoutMs: 10_000, ...(signal ? { signal } : {}) });
  } catch (error) {
    throw named(error, held);
  }
}

/** The time of the oldest event of the datasets that a query reads, of those ingested in time; null where they have none. Throws as `searchLogs`. */
export async function firstEventAt(
  deps: SearchDeps,
  orgId: OrgId,
  { query, ingestedBefore = endOfTime }: { query: string; ingestedBefore?: Date | undefined },
  signal?: AbortSignal,
): Promise<Date | null> {
  const datasets = datasetsOf((await inspectQuery(deps, orgId, query, signal)).sources);
  return inOrg(deps.db, orgId, (tx) => findFirstEventAt(tx, orgId, datasets, ingestedBefore));
}

/** The datasets with their columns, as a connection tells them. */
export async function logFields(
  deps: SearchDeps,
  orgId: OrgId,
): Promise<{ dataset: string; fields: { name: string; type: string }[] }[]> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns }) => ({ dataset: name, fields: columns }));
}

/** The columns that the organization's datasets have, of those that ever had an event. */
export async function storedFields(deps: SearchDeps, orgId: OrgId, datasets: string[]): Promise<Map<string, Field[]>> {
  return inOrg(deps.db, orgId, (tx) => loadFields(tx, orgId, datasets));
}

async function loadFields(tx: Tx, orgId: OrgId, datasets: string[]): Promise<Map<string, Field[]>> {
  const fields = new Map<string, Field[]>();
  for (const { name, version, events } of await findDatasets(tx, orgId, datasets))
    if (events > 0) fields.set(name, await loadCatalogue(tx, orgId, name, version));
  return fields;
}

/** What the query's datasets hold now: their columns, and the files that the window needs and no others. */
async function hold(
  tx: Tx,
  orgId: OrgId,
  input: { sources: Source[]; window: QueryWindow; folder: string; segments?: SegmentRow[] | undefined },
): Promise<Held> {
  const { sources, window, folder } = input;
  const datasets = datasetsOf(sources);
  const held: Held = { fields: await loadFields(tx, orgId, datasets), parts: new Map(), others: [], early: false };
  let isEmpty = true;
  for (const history of [false, true]) {
    const wanted = sources.filter((source) => source.history === history && held.fields.has(source.dataset));
    if (wanted.length === 0) continue;
    const filter: SegmentFilter = history ? historyFilter(window) : windowFilter(window);
    const segments = input.segments ?? (await listSegments(tx, orgId, datasetsOf(wanted), filter));
    isEmpty &&= segments.length === 0;
    for (const { name, dataset } of wanted)
      held.parts.set(
        name,
        partsOf(
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
