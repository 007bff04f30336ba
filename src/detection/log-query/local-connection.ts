import type { OrgId } from '../../platform/lib/org-id.ts';
import { siemConnectors } from '../siem/registry.ts';
import type { DatasetFields, SiemConnection } from '../siem/connector.ts';
import { listDatasets } from './datasets/list-datasets.ts';
import { inspectQuery } from './search/inspect-query.ts';
import { findLateEvents } from './search/late-events.ts';
import { lateMsMax } from '../log-engine/sql/slot-time.ts';
import { searchLogWindows } from './search/search-windows.ts';
import { checkLogsQuery, findOldestEventTime, searchLogs, type SearchLogsDeps } from './search/search-logs.ts';

/** Returns the organization's `local` connection: the embedded log store with the interface of any other SIEM. */
export function localConnection(deps: SearchLogsDeps, orgId: OrgId): SiemConnection {
  return siemConnectors.local.connect({
    search: (query, window, limits, signal) => searchLogs(deps, orgId, { query, window, limits }, signal),
    searchWindows: (query, windows, limits, signal) =>
      searchLogWindows(deps, orgId, { query, windows, limits }, signal),
    check: (query, signal) => checkLogsQuery(deps, orgId, query, signal),
    fields: () => listLogFields(deps, orgId),
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
  return datasets.map(({ name, columns }) => ({ dataset: name, fields: columns }));
}
