import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/**
 * After connections of an organization changed, or the connection of one detection did: windows planned from now on lie as far behind their
 * slots as the connection asked, and runs that wait are known to wait for it.
 */
export async function followConnections(tx: Tx, orgId: OrgId, detectionId: string | null = null): Promise<void> {
  const asked = sql`
    select a.organization_id, a.id, c.id as connection_id, coalesce(c.delay_minutes, 0) * 60000 as delay_ms
    from agents a left join connections c on c.organization_id = a.organization_id
      and c.id = tocsin_connection(a.organization_id, a.connection_id, a.siem_type)
    where a.organization_id = ${orgId} and a.agent_type = 'detection' and (${detectionId}::uuid is null or a.id = ${detectionId}::uuid)`;
  await sql`
    with asked as materialized (${asked}), queue as (
      update run_queue q set connection_id = asked.connection_id from asked
      where q.organization_id = asked.organization_id and q.detection_id = asked.id and q.state = 'queued'
        and q.connection_id is distinct from asked.connection_id
    )
    update schedules s set delay_ms = asked.delay_ms, connection_id = asked.connection_id from asked
    where s.organization_id = asked.organization_id and s.detection_id = asked.id 
      and (s.delay_ms <> asked.delay_ms or s.connection_id is distinct from asked.connection_id)`.execute(tx);
}
