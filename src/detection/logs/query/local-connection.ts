import type { OrgId } from '../../../platform/lib/org-id.ts';
import { siemConnectors } from '../../siem/registry.ts';
import type { SiemConnection } from '../../siem/connector.ts';
import type { SearchDeps } from '../log-folder.ts';
import { checkLogsQuery, findOldestEventTime, listLogFields, searchLogs } from './search-logs.ts';

/** The organization's `local` connection: the embedded log store behind the same face as any other SIEM. */
export function localConnection(deps: SearchDeps, orgId: OrgId): SiemConnection {
  return siemConnectors.local.connect({
    search: (query, window, limits, signal) => searchLogs(deps, orgId, { query, window, limits }, signal),
    check: (query, signal) => checkLogsQuery(deps, orgId, query, signal),
    fields: () => listLogFields(deps, orgId),
    firstEventAt: (query, signal, ingestedBefore) =>
      findOldestEventTime(deps, orgId, { query, ingestedBefore }, signal),
  });
}
