import type { OrgId } from '../../../platform/lib/org-id.ts';
import { siemConnectors } from '../../siem/registry.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import { inspectQuery } from './inspect-query.ts';
import { findLateEvents } from './late-events.ts';
import { lateMsMax } from './slot-time.ts';
import { searchLogWindows } from './search-windows.ts';
import { checkLogsQuery, findOldestEventTime, listLogFields, searchLogs, type SearchLogsDeps } from './search-logs.ts';

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
