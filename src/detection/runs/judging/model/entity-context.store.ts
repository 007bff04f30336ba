import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../../platform/db/db.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import type { EntityContext } from '../../../verdicts/model/entity-context.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';

type Entity = { entity: string; entityType: string };
type EarlierHit = EntityContext['organization']['earlierHits'][number];

/** Lists the latest hits of an entity that other windows raised, of all detections, with the latest reason of a status. */
export async function listEarlierHits(
  tx: Tx,
  orgId: OrgId,
  { entity, entityType, before }: Entity & { before: Date },
  limit: number,
): Promise<EarlierHit[]> {
  const hits = await queryRows<Omit<EarlierHit, 'lastSeenAt'> & { lastSeenAt: Date }>(tx)`
      select a.name as detection, h.severity, h.status, h.last_seen_at as "lastSeenAt",
        (select c.reason from hit_changes c where c.organization_id = h.organization_id and c.hit_id = h.id and c.reason is not null
          order by c.at desc, c.id desc limit 1) as reason
      from hits h join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      where h.organization_id = ${orgId} and md5(h.entity) = md5(${entity}) and h.entity_type = ${entityType} and h.window_from < ${before}
      order by h.last_seen_at desc, h.id desc limit ${limit}`;
  return hits.map(({ lastSeenAt, ...hit }) => ({ ...hit, lastSeenAt: lastSeenAt.toISOString() }));
}

/** Candidates that prevalence is counted over. Those of earlier windows are left out. */
const countedMax = 5_000;

/** Counts in how many windows between two times a detection found the entity, and how many other entities it found. */
export async function readPrevalence(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { entity, entityType, from, to }: Entity & { from: Date; to: Date },
): Promise<{ windowsWithEntity: number; otherEntities: number }> {
  const isEntity = sql`entity = ${entity} and entity_type = ${entityType}`;
  const counts = await queryRow<{ windowsWithEntity: number; otherEntities: number }>(tx)`
      select count(distinct window_from) filter (where ${isEntity}) as "windowsWithEntity",
        count(distinct (entity_type, entity)) filter (where not (${isEntity})) as "otherEntities"
      from (
        select window_from, entity, entity_type from candidates
        where organization_id = ${orgId} and detection_id = ${detectionId} and window_from >= ${from} and window_from < ${to}
          and state <> 'outdated' order by window_from desc limit ${countedMax}) c`;
  return counts!;
}
