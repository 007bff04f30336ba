import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/**
 * Copies the connection of each detection, and the delay of that connection, to its schedule and its queued runs. Call it
 * after connections changed, or with `detectionId` after the connection of one detection changed.
 */
export async function applyConnections(tx: Tx, orgId: OrgId, detectionId: string | null = null): Promise<void> {
  await sql`
    with current as materialized (
      select a.organization_id, a.id, c.id as connection_id, coalesce(c.delay_minutes, 0) * 60000 as delay_ms
      from agents a left join connections c on c.organization_id = a.organization_id
        and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)
      where a.organization_id = ${orgId} and a.agent_type = 'detection' and (${detectionId}::uuid is null or a.id = ${detectionId}::uuid)
    ), updated_queue as (
      update run_queue q set connection_id = current.connection_id from current
      where q.organization_id = current.organization_id and q.detection_id = current.id and q.state = 'queued'
        and q.connection_id is distinct from current.connection_id
    )
    update schedules s set delay_ms = current.delay_ms, connection_id = current.connection_id from current
    where s.organization_id = current.organization_id and s.detection_id = current.id
      and (s.delay_ms <> current.delay_ms or s.connection_id is distinct from current.connection_id)`.execute(tx);
}
