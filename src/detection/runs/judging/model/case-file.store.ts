import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../../platform/db/db.ts';
import type { OrgId } from '../../../../platform/lib/org-id.ts';
import type { CitableHit } from '../../../verdicts/claims/case-file.ts';
import type { DetectionKey } from '../../../scheduling/timeline.ts';
import { severities, type Facts, type Severity } from '../../../analysis/candidate.ts';

type Entity = { entity: string; entityType: string };

/** Lists the latest hits of an entity that other windows raised, of all detections, with the latest reason of a status. */
export async function listEarlierHits(
  tx: Tx,
  orgId: OrgId,
  { entity, entityType, before }: Entity & { before: Date },
  limit: number,
): Promise<CitableHit[]> {
  const hits = await queryRows<Omit<CitableHit, 'lastSeenAt'> & { lastSeenAt: Date }>(tx)`
      select h.id, a.name as detection, h.severity, h.status, h.last_seen_at as "lastSeenAt",
        coalesce((select c.key_id is not null or c.actor is not null from hit_changes c
          where c.organization_id = h.organization_id and c.hit_id = h.id order by c.at desc, c.id desc limit 1), false) as "isReviewed",
        (select c.reason from hit_changes c where c.organization_id = h.organization_id and c.hit_id = h.id and c.reason is not null
          order by c.at desc, c.id desc limit 1) as reason
      from hits h join agents a on a.organization_id = h.organization_id and a.id = h.detection_id
      where h.organization_id = ${orgId} and md5(h.entity) = md5(${entity}) and h.entity_type = ${entityType} and h.window_from < ${before}
      order by h.last_seen_at desc, h.id desc limit ${limit}`;
  return hits.map(({ lastSeenAt, ...hit }) => ({ ...hit, lastSeenAt: lastSeenAt.toISOString() }));
}

/** Candidates that recurrence is counted over. Those of earlier windows are left out. */
const countedMax = 5_000;

/** How often a behavior recurred: the UTC days on which the entity showed it, and how many others showed it on how many days. */
export type Recurrence = { recurredDays: number; recurredPeers: number; recurredPeerDays: number; wasAttack: boolean };

/** What counts as the same behavior: its category and techniques and, where a category judges each kind, the kind. */
type Behavior = { kind: string; kindKey: string | null; techniques: Facts[string] | undefined; severity: Severity };

/**
 * Counts on how many days between two times a detection found the same behavior of the entity and of its peers, of the same severity or a higher one.
 * `wasAttack`: people judged one of those hits as a true positive.
 */
export async function readRecurrence(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { entity, entityType, kind, kindKey, techniques, severity, from, to }: Entity & Behavior & { from: Date; to: Date },
): Promise<Recurrence> {
  const isEntity = sql`entity = ${entity} and entity_type = ${entityType}`;
  const day = sql`date_trunc('day', window_from at time zone 'utc')`;
  const isKind = kindKey === null ? sql`kind = ${kind}` : sql`kind_key = ${kindKey}`;
  const asSevere = severities.slice(severities.indexOf(severity));
  const counts = await queryRow<Recurrence>(tx)`
      select count(distinct ${day}) filter (where ${isEntity}) as "recurredDays",
        count(distinct (entity_type, entity)) filter (where not (${isEntity})) as "recurredPeers",
        count(distinct ${day}) filter (where not (${isEntity})) as "recurredPeerDays",
        coalesce(bool_or(h.status = 'true_positive'), false) as "wasAttack"
      from (
        select window_from, entity, entity_type, hit_id from candidates
        where organization_id = ${orgId} and detection_id = ${detectionId} and ${isKind} and window_from >= ${from} and window_from < ${to}
          and severity = any(${asSevere}::text[]) and facts::jsonb -> 'techniques' is not distinct from ${JSON.stringify(techniques) ?? null}::jsonb
          and state <> 'outdated' order by window_from desc limit ${countedMax}) c
      left join lateral (select status from hits where organization_id = ${orgId} and id = c.hit_id) h on true`;
  return counts!;
}
