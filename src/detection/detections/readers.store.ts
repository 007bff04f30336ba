import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

const readersMax = 1_000;

/** Returns the enabled detections that query the embedded store with a query that contains a text, in any case. At most 1,000. */
export function listReaders(
  tx: Tx,
  orgId: OrgId,
  text: string,
): Promise<{ id: string; name: string; query: string }[]> {
  return queryRows<{ id: string; name: string; query: string }>(tx)`
    select id, name, detection_query as query from agents
    where organization_id = ${orgId} and agent_type = 'detection' and enabled and not is_suggestion and deleted_at is null
      and tocsin_connection(organization_id, connection_id, siem_type) is null
      and position(lower(${text}) in lower(detection_query)) > 0
    order by name, id limit ${readersMax}`;
}
