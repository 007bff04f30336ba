import { hash } from 'node:crypto';
import { inOrg } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { LateEvents, SearchLimits, SharedRequest, SharedResult, TimeBounds } from '../../siem/connector.ts';
import { duck, joinSql, quoteIdentifier, promptMs } from '../../log-engine/sql/sql-text.ts';
import type { CatalogField } from '../../log-store/catalog/catalog.ts';
import { loadCatalog, sealDatasets } from '../../log-store/catalog/catalog.store.ts';
import { listDatasetNames, listDatasetSegments, type DatasetSegments } from '../../log-store/segments.store.ts';
import { distinctDatasets, inspectQuery } from './inspect-query.ts';
import { ignoreFailure, runTogether, type PlannedRequest, type TogetherRequest } from './run-together.ts';
import { findLateFrom, sumDrift, type SearchLogsDeps } from './search-logs.ts';
import type { DatasetContents } from './search-plan.ts';
import { historyFilter, planScans, windowFilter } from './window-scans.ts';

/** Returns whether events of datasets that belong before the window of a request have arrived in its `arrival`. */
type LateCheck = (request: SharedRequest, datasets: readonly string[]) => Promise<boolean>;

/** Creates a check that searches once for the same datasets and times. `find` returns the late events of the datasets of a query, if they are known. */
export function createLateCheck(
  find: (query: string, arrival: TimeBounds) => Promise<LateEvents[]> | undefined,
): LateCheck {
  const known = new Map<string, Promise<boolean>>();
  return ({ window, arrival }, datasets) => {
    if (!arrival) return Promise.resolve(false);
    const key = JSON.stringify([datasets, arrival, window.from]);
    const search = async (): Promise<boolean> => {
      const rows = joinSql(
        datasets.map((dataset) => duck`SELECT _id FROM ${quoteIdentifier(dataset)}`),
        '\nUNION ALL\n',
      );
      return ((await find(rows, arrival)) ?? []).some(({ from }) => from < window.from);
    };
    const late = known.get(key) ?? search();
    known.set(key, late);
    return late;
  };
}

type TogetherInput = { requests: readonly SharedRequest[]; limits: SearchLimits; hasLate: LateCheck };

/**
 * Searches many queries with the results of `searchLogs`. The queries of one window seal it once, list its segments once, and its events are read
 * once. A query that also reads events before its window, fails or is slow has no result.
 */
export async function searchLogsTogether(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { requests, limits, hasLate }: TogetherInput,
  signal: AbortSignal,
): Promise<(SharedResult | undefined)[]> {
  const found: (SharedResult | undefined)[] = requests.map(() => undefined);
  const shareable = await listShareable(deps, orgId, requests, signal);
  for (const same of Map.groupBy(shareable, ({ window }) => `${+window.from} ${+window.to}`).values()) {
    const datasets = await loadDatasets(deps, orgId, same);
    const folder = deps.segmentStore.folderOf(orgId);
    const planned = same.flatMap((request) => planRequest(request, datasets, folder) ?? []);
    const results = await runTogether(deps, orgId, { planned, limits }, signal);
    for (const [at, { request, segments }] of planned.entries()) {
      const result = results[at];
      if (!result) continue;
      const mayBeLate = hasLateArrivals(segments, request);
      found[request.index] = {
        result,
        hasLate: mayBeLate && (await hasLate(request, distinctDatasets(request.inspected.sources))),
      };
    }
  }
  return found;
}

async function listShareable(
  deps: SearchLogsDeps,
  orgId: OrgId,
  requests: readonly SharedRequest[],
  signal: AbortSignal,
): Promise<TogetherRequest[]> {
  const shareable: TogetherRequest[] = [];
  for (const [index, request] of requests.entries()) {
    const { clock, to, ingestedBefore, lateSince } = request.window;
    if (clock !== 'slot' || ingestedBefore?.getTime() !== to.getTime() || lateSince === undefined) continue;
    const inspected = await inspectQuery(deps, orgId, request.query, signal).catch(ignoreFailure);
    if (inspected && inspected.lists.length === 0 && !inspected.sources.some(({ history }) => history))
      shareable.push({ ...request, index, inspected });
  }
  return shareable;
}

/** The sealed datasets of a window by name, with their columns. `otherNames`: names to suggest for those without events. */
type Datasets = { byName: Map<string, DatasetSegments & { fields: CatalogField[] }>; otherNames: string[] };

/** Seals the datasets that requests of one window read, and loads their columns and segments. */
function loadDatasets(
  { db, logCatalogs }: SearchLogsDeps,
  orgId: OrgId,
  requests: readonly TogetherRequest[],
): Promise<Datasets> {
  const { window } = requests[0]!;
  const names = [...new Set(requests.flatMap(({ inspected }) => distinctDatasets(inspected.sources)))];
  const filters = { filter: windowFilter(window), earlier: historyFilter({ ...window, from: window.to }) };
  return inOrg(db, orgId, async (tx) => {
    await sealDatasets(tx, orgId, names, window.to);
    const byName: Datasets['byName'] = new Map();
    for (const dataset of await listDatasetSegments(tx, orgId, names, filters)) {
      const { name, version, events } = dataset;
      if (events === 0) continue;
      byName.set(name, { ...dataset, fields: await loadCatalog(tx, logCatalogs, { orgId, dataset: name, version }) });
    }
    return { byName, otherNames: byName.size < names.length ? await listDatasetNames(tx, orgId) : [] };
  });
}

/** Returns undefined if only some of the datasets of a query have ever had an event. */
function planRequest(
  request: TogetherRequest,
  { byName, otherNames }: Datasets,
  folder: string,
): PlannedRequest | undefined {
  const { window, inspected } = request;
  const names = distinctDatasets(inspected.sources);
  const own = names.flatMap((name) => byName.get(name) ?? []);
  if (own.length > 0 && own.length < names.length) return undefined;
  const segments = own.flatMap((dataset) => dataset.segments);
  const late = findLateFrom(segments);
  // Detections of different ages have the same events unless events may be late and older than one of them.
  const isSame = late.lateFrom === undefined || late.lateFrom >= window.lateSince!;
  const { earlierApart, ...always } = window;
  const filter = windowFilter(isSame ? { ...always, lateSince: new Date(0) } : window);
  const contents: DatasetContents = {
    fields: new Map(own.map(({ name, fields }) => [name, fields])),
    scans: new Map(own.map((dataset) => [dataset.name, planScans(filter, dataset.segments, folder)])),
    segments,
    drift: sumDrift(segments),
    otherDatasets: own.length < names.length ? otherNames : [],
    early: segments.length === 0 && !own.some(({ hasEarlier }) => hasEarlier),
    ...late,
  };
  const columnsKey = own.map(({ name, fields }) => `${name} ${digestColumns(fields)}`).join();
  const rule = isSame ? '' : `${+window.lateSince!} ${earlierApart === true}`;
  return { request, contents, segments, rule, columnsKey };
}

/** Digests of catalogs, each of which is one object for as long as it is cached. */
const digests = new WeakMap<readonly CatalogField[], string>();

function digestColumns(fields: readonly CatalogField[]): string {
  const digest = digests.get(fields) ?? hash('sha256', JSON.stringify(fields));
  digests.set(fields, digest);
  return digest;
}

/** Returns whether one of the segments may have late events that arrived when those of a request must have. */
function hasLateArrivals(segments: DatasetSegments['segments'], { window, arrival }: TogetherRequest): boolean {
  if (!arrival) return false;
  const { from, to } = arrival;
  // Segments that arrived before the window are not among these.
  if (from < window.from) return true;
  return segments.some(
    ({ ingestedFrom, ingestedTo, timeFrom }) =>
      ingestedTo >= from && ingestedFrom < to && +ingestedTo - +timeFrom > promptMs,
  );
}
