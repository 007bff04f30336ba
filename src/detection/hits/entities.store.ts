import { sql } from 'kysely';
import { severities, type Severity } from '../analysis/candidate.ts';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';

export type EntityRow = {
  entity: string;
  entityType: string;
  hits: number;
  open: number;
  severity: Severity;
  detectionIds: string[];
  firstSeenAt: Date;
  lastSeenAt: Date;
  /** Identifies the entity in a cursor. */
  cursorId: string;
};

/** Lists `limit` + 1 entities with figures of their hits, last seen first. */
export function listEntities(
  tx: Tx,
  orgId: OrgId,
  { detection, status }: { detection: string | undefined; status: string | undefined },
  { limit, after }: PageRequest,
): Promise<EntityRow[]> {
  const cursorId = sql`md5(entity_type || chr(10) || entity)`;
  return queryRows(
    tx,
    sql<EntityRow>`
      select entity, entity_type as "entityType", count(*)::int as hits, (count(*) filter (where status = 'open'))::int as open,
        (${[...severities]}::text[])[max(array_position(${[...severities]}::text[], severity))] as severity,
        (array_agg(distinct detection_id))[:50] as "detectionIds", min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt",
        ${cursorId} as "cursorId"
      from hits where organization_id = ${orgId} ${detection === undefined ? sql`` : sql`and detection_id = ${detection}`}
        ${status === undefined ? sql`` : sql`and status = ${status}`}
      group by entity, entity_type ${after ? sql`having (max(last_seen_at), ${cursorId}) < (${after.at}, ${after.id})` : sql``}
      order by max(last_seen_at) desc, ${cursorId} desc limit ${limit + 1}`,
  );
}
