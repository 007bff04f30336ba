import { sql } from 'kysely';
import { severities, type Severity } from '../analysis/candidate.ts';
import { rows, type Tx } from '../../platform/db/db.ts';
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
  /** Stands for the entity in a cursor. */
  mark: string;
};

/** Entities with their hits, the latest seen first, `limit` + 1 of them. */
export function listEntities(
  tx: Tx,
  orgId: OrgId,
  by: { detection: string | undefined; status: string | undefined },
  { limit, after }: PageRequest,
): Promise<EntityRow[]> {
  const mark = sql`md5(entity_type || chr(10) || entity)`;
  return rows(
    tx,
    sql<EntityRow>`
      select entity, entity_type as "entityType", count(*)::int as hits, (count(*) filter (where status = 'open'))::int as open,
        (${[...severities]}::text[])[max(array_position(${[...severities]}::text[], severity))] as severity,
        (array_agg(distinct detection_id))[:50] as "detectionIds", min(first_seen_at) as "firstSeenAt", max(last_seen_at) as "lastSeenAt",
        ${mark} as mark
      from hits where organization_id = ${orgId} ${by.detection === undefined ? sql`` : sql`and detection_id = ${by.detection}`}
        ${by.status === undefined ? sql`` : sql`and status = ${by.status}`}
      group by entity, entity_type ${after ? sql`having (max(last_seen_at), ${mark}) < (${after.at}, ${after.id})` : sql``}
      order by max(last_seen_at) desc, ${mark} desc limit ${limit + 1}`,
  );
}
