import { inOrg } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import { SiemError, type QueryWindow, type SearchLimits, type SearchResult } from '../../siem/connector.ts';
import { findFirstTime, listDatasetNames, listSegments, type BoundedSegment } from '../../log-store/segments.store.ts';
import { distinctDatasets, inspectQuery, type InspectedQuery } from './inspect-query.ts';
import { withQueryFiles, endOfTime, planScans, windowFilter } from './window-scans.ts';
import { loadFields, searchLogs, sumDrift, type SearchLogsDeps } from './search-logs.ts';
import {
  buildWindowsJob,
  createSearchPlan,
  resultRowsMax,
  runWithUnknownColumns,
  toSearchResult,
  type DatasetContents,
} from './search-plan.ts';

/** The windows whose rows one job may read at once, and an estimate of the number of those rows. */
const windowsMax = 100;
const rowsMax = 200_000;
/** After so many jobs without a result, the windows are searched one by one. */
const failuresMax = 3;

type WindowsInput = { query: string; windows: readonly QueryWindow[]; limits: SearchLimits };

/**
 * Runs a query over windows on the clock `slot` that follow each other, oldest first. The results are those of `searchLogs`, but the events of
 * many windows are read once. A window that fails throws the error of `searchLogs` when its turn comes.
 */
export async function* searchLogWindows(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { query, windows, limits }: WindowsInput,
  signal?: AbortSignal,
): AsyncGenerator<SearchResult> {
  const inspected = await inspectQuery(deps, orgId, query, signal);
  // Nothing is saved where every window needs all events before it.
  const isShareable =
    !inspected.sources.some(({ history }) => history) &&
    windows.every(({ clock, lateSince }) => clock === 'slot' && lateSince === undefined);
  let failures = isShareable ? 0 : failuresMax;
  for (let next = 0; next < windows.length;) {
    const batch = windows.slice(next, next + windowsMax);
    const results =
      failures < failuresMax ? await searchTogether(deps, orgId, { inspected, batch, limits }, signal) : [];
    if (results.length === 0) {
      failures += 1;
      results.push(await searchLogs(deps, orgId, { query, window: batch[0]!, limits }, signal));
    }
    yield* results;
    next += results.length;
  }
}

type Batch = { inspected: InspectedQuery; batch: readonly QueryWindow[]; limits: SearchLimits };

/** Returns the results of the first windows of a batch, or none if they cannot be searched together. */
async function searchTogether(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { inspected, batch, limits }: Batch,
  signal?: AbortSignal,
): Promise<SearchResult[]> {
  const began = performance.now();
  const { contents, windows } = await loadTogether(deps, orgId, inspected, batch);
  if (windows.length < 2) return [];
  const [{ window }] = windows as [PlannedWindow];
  const plan = createSearchPlan(inspected, contents, window);
  // The search of a single window knows what a query over no data returns.
  if (plan.emptyDatasets.length > 0) return [];
  const list = windows.map((planned) => planned.window);
  const run = { timeoutMs: limits.timeoutMs, ...(signal ? { signal } : {}) };
  try {
    const { result, unknown } = await runWithUnknownColumns(
      plan,
      (columns) => buildWindowsJob(inspected, contents, { windows: list, unknown: columns }),
      (job) => {
        const query = { ...job.query, rowsMax: resultRowsMax(inspected, limits) };
        return withQueryFiles(deps.segmentStore, orgId, contents.segments, () =>
          deps.engine.windows(orgId, { ...job, query }, run),
        );
      },
    );
    return result.map((found, index) => {
      const { early, drift } = windows[index]!;
      const own = { inspected, contents: { ...contents, early, drift }, emptyDatasets: [] };
      return toSearchResult(own, { result: found, unknown, began });
    });
  } catch (error) {
    if (!(error instanceof SiemError) || signal?.aborted) throw error;
    return [];
  }
}

type PlannedWindow = { window: QueryWindow } & Pick<DatasetContents, 'early' | 'drift'>;

/** Plans the scans of as many windows as fit. */
function loadTogether(
  { db, segmentStore, logCatalogs }: SearchLogsDeps,
  orgId: OrgId,
  { sources }: InspectedQuery,
  batch: readonly QueryWindow[],
): Promise<{ contents: DatasetContents; windows: PlannedWindow[] }> {
  const datasets = distinctDatasets(sources);
  const rangeOf = (windows: readonly QueryWindow[]): QueryWindow => ({ ...windows[0]!, to: windows.at(-1)!.to });
  return inOrg(db, orgId, async (tx) => {
    const fields = await loadFields(tx, logCatalogs, orgId, datasets);
    const all = await listSegments(tx, orgId, datasets, windowFilter(rangeOf(batch)));
    const firstTime = await findFirstTime(tx, orgId, datasets, batch[0]!.ingestedBefore ?? endOfTime);
    const otherDatasets = fields.size < datasets.length ? await listDatasetNames(tx, orgId) : [];
    const windows = takeWhileSmall(batch, all);
    const range = rangeOf(windows);
    const segments = all.filter((segment) => isWithin(segment, range));
    const folder = segmentStore.folderOf(orgId);
    const filter = windowFilter(range);
    const scans = new Map(
      sources.map(({ name, dataset }) => {
        const own = segments.filter((segment) => segment.dataset === dataset);
        return [name, planScans(filter, own, folder)];
      }),
    );
    const planned = windows.map((window) => {
      const own = segments.filter((segment) => isWithin(segment, window));
      const early = own.length === 0 && !(firstTime && firstTime < window.to);
      return { window, early, drift: sumDrift(own) };
    });
    return { contents: { fields, scans, segments, drift: new Map(), otherDatasets, early: false }, windows: planned };
  });
}

/** Returns the first windows whose rows fit together, at least one. */
function takeWhileSmall(windows: readonly QueryWindow[], segments: readonly BoundedSegment[]): QueryWindow[] {
  let rows = 0;
  const large = windows.findIndex((window) => {
    rows += segments.reduce((sum, segment) => sum + estimateRows(segment, window), 0);
    return rows > rowsMax;
  });
  return windows.slice(0, large < 0 ? windows.length : Math.max(large, 1));
}

/** Estimates the rows of a segment in a window as if they were spread evenly over its time, by arrival or by time. */
function estimateRows(
  { rows, ingestedFrom, ingestedTo, timeFrom, timeTo }: BoundedSegment,
  window: QueryWindow,
): number {
  const share = (from: Date, to: Date): number => {
    const overlap = Math.min(+to, +window.to) - Math.max(+from, +window.from);
    return overlap < 0 ? 0 : (overlap + 1) / (+to - +from + 1);
  };
  return rows * Math.max(share(ingestedFrom, ingestedTo), share(timeFrom, timeTo));
}

/** Returns whether a segment may have events in a window, as the filter `slot` of `listSegments` does. */
const isWithin = ({ ingestedFrom, ingestedTo, timeFrom, timeTo }: BoundedSegment, { from, to }: QueryWindow): boolean =>
  (ingestedTo >= from && ingestedFrom < to) || (timeTo >= from && timeFrom < to);
