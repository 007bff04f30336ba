import { sql, type RawBuilder } from 'kysely';
import { connectedColumn } from '../detection-connections.store.ts';
import type { DetectionHealth } from './summaries.schema.ts';

const ofDetection = sql`organization_id = a.organization_id and detection_id = a.id`;

/** The health of a row of `agents a` as an expression. It needs `scheduleJoin`, and every part of it is an index lookup. */
export const healthColumn: RawBuilder<DetectionHealth> = sql<DetectionHealth>`case
    when not a.enabled then case when a.disabled_reason is null then 'disabled' else 'stopped' end
    when s.author_failures > 0 or exists (select from pending_windows where ${ofDetection} and failure is not null) then 'failing'
    when exists (select from connection_pauses p where p.organization_id = a.organization_id and p.connection_id = s.connection_id) then 'paused'
    when exists (select from gaps where ${ofDetection} and state = 'open') then 'gap'
    when not ${connectedColumn} or exists (
      select from query_warnings w where w.organization_id = a.organization_id and w.detection_id = a.id and w.revision = a.revision and w.warnings <> '[]') then 'warning'
    else 'healthy' end`;

/** The schedule of a row of `agents a`, as `s`. */
export const scheduleJoin = sql`left join schedules s on s.organization_id = a.organization_id and s.detection_id = a.id`;
