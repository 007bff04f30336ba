import type { OrgId } from '../../platform/lib/org-id.ts';
import { inOrg } from '../../platform/db/db.ts';
import { siemConnectors } from '../siem/connectors/registry.ts';
import type { DatasetFields, SiemConnection, LateEvents, QueryWindow, TimeBounds } from '../siem/connector.ts';
import { hasSegments } from '../log-store/segments.store.ts';
import { duck, quoteIdentifier, type SqlText, lateMsMax, promptMs } from '../log-engine/sql/sql-text.ts';
import { listDatasets } from './datasets/list-datasets.ts';
import { inspectQuery, distinctDatasets, readQuerySources } from './search/inspect-query.ts';
import { createLateCheck, searchLogsTogether } from './search/search-together.ts';
import { searchLogWindows } from './search/search-windows.ts';
import { checkLogsQuery, findOldestEventTime, searchLogs, type SearchLogsDeps } from './search/search-logs.ts';

/** Returns the organization's `local` connection: the embedded log store with the interface of any other SIEM. */
export function localConnection(deps: SearchLogsDeps, orgId: OrgId): SiemConnection {
  return siemConnectors.local.connect({
    search: (query, window, limits, signal) => searchLogs(deps, orgId, { query, window, limits }, signal),
    searchWindows: (query, windows, limits, signal) =>
      searchLogWindows(deps, orgId, { query, windows, limits }, signal),
    searchTogether: (requests, limits, signal) => {
      const hasLate = createLateCheck((query, window) => findLateEvents(deps, orgId, { query, window }, signal));
      return searchLogsTogether(deps, orgId, { requests, limits, hasLate }, signal);
    },
    check: (query, signal) => checkLogsQuery(deps, orgId, query, signal),
    fields: () => listLogFields(deps, orgId),
    sourcesOf: (query, signal) => readQuerySources(deps, orgId, query, signal),
    hasEvents: (query, window, signal) => haveEvents(deps, orgId, { query, window }, signal),
    firstEventAt: (query, signal, ingestedBefore) =>
      findOldestEventTime(deps, orgId, { query, ingestedBefore }, signal),
    lateEvents: {
      lagMsMax: lateMsMax,
      find: (query, window, signal, lagMsMin) => findLateEvents(deps, orgId, { query, window, lagMsMin }, signal),
      groupsEvents: async (query, signal) => (await inspectQuery(deps, orgId, query, signal)).inspection.aggregate,
    },
  });
}

/** Returns the datasets with their columns, in the shape of a SIEM connection's fields. */
async function listLogFields(deps: SearchLogsDeps, orgId: OrgId): Promise<DatasetFields[]> {
  const { datasets } = await listDatasets(deps, orgId);
  return datasets.map(({ name, columns, events, firstEventAt, lastEventAt }) => ({
    dataset: name,
    fields: columns,
    events,
    firstEventAt,
    lastEventAt,
  }));
}

/** Returns whether all datasets that a query reads have an event in a window. Null if it also reads the events before it. */
async function haveEvents(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { query, window }: { query: string; window: QueryWindow },
  signal: AbortSignal,
): Promise<boolean | null> {
  const { sources } = await inspectQuery(deps, orgId, query, signal);
  if (sources.some(({ history }) => history)) return null;
  const limits = { rowsMax: 1, groupsMax: 1, timeoutMs: 10_000 };
  for (const dataset of distinctDatasets(sources)) {
    const one = duck`SELECT 1 AS one FROM ${quoteIdentifier(dataset)} LIMIT 1`;
    if ((await searchLogs(deps, orgId, { query: one, window, limits }, signal)).rows.length === 0) return false;
  }
  return sources.length > 0;
}

const bucketMs = 15 * 60_000;
const bucketsMax = 5_000;

/**
 * Returns the late events that arrived within a window in the datasets of a query, in quarters of an hour of their own time, newest first
 * and at most 5,000. Late is more than `lagMsMin`, 15 minutes by default. Usually there are none, which the bounds of the segments show without reading them.
 */
async function findLateEvents(
  deps: SearchLogsDeps,
  orgId: OrgId,
  { query, window, lagMsMin = promptMs }: { query: string; window: TimeBounds; lagMsMin?: number | undefined },
  signal?: AbortSignal,
): Promise<LateEvents[]> {
  const datasets = distinctDatasets((await inspectQuery(deps, orgId, query, signal)).sources);
  const filter = { kind: 'late', ...window, lagMsMin } as const;
  if (!(await inOrg(deps.db, orgId, (tx) => hasSegments(tx, orgId, datasets, filter)))) return [];
  const found: LateEvents[] = [];
  for (const dataset of datasets) {
    const input = {
      query: lateEventsSql(dataset, lagMsMin),
      window: { ...window, clock: 'ingest' as const },
      limits: { rowsMax: bucketsMax, groupsMax: bucketsMax, timeoutMs: 60_000 },
    };
    for (const row of (await searchLogs(deps, orgId, input, signal)).rows) {
      const from = new Date(Number(row['bucket']) * bucketMs);
      const to = new Date(from.getTime() + bucketMs);
      found.push({ from, to, events: Number(row['events']), lagMs: Number(row['lag']) });
    }
  }
  return found;
}

const lateEventsSql = (dataset: string, lagMsMin: number): SqlText =>
  duck`SELECT epoch_ms(_time) // ${bucketMs} AS bucket, count(*) AS events, max(epoch_ms(_ingested) - epoch_ms(_time)) AS lag
   FROM ${quoteIdentifier(dataset)} WHERE epoch_ms(_ingested) - epoch_ms(_time) > ${lagMsMin}
   GROUP BY 1 ORDER BY 1 DESC LIMIT ${bucketsMax}`;
