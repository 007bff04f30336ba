import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { PageRequest } from '../../../platform/lib/page-request.ts';
import { severities } from '../../analysis/candidate.ts';
import type { HitGroup } from './groups.schema.ts';

type TimeField = 'windowFrom' | 'windowTo' | 'lastSeenAt' | 'createdAt' | 'updatedAt';
export type HitGroupRow = Omit<HitGroup, TimeField | 'headline'> & Record<TimeField, Date>;

const entitiesMax = 20;
const severityRank = sql`array_position(${[...severities]}::text[], severity)`;

/** Selects groups that satisfy `condition` on `g`, with the figures of their hits. Groups without hits are left out. */
const selectGroups = (orgId: OrgId, condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select g.id, g.detection_id as "detectionId", a.name as "detectionName", hit.severity, hit.n as hits, hit.statuses, hit.unjudged,
    hit.revision, hit.entities, g.window_from as "windowFrom", g.window_to as "windowTo", hit.last_seen_at as "lastSeenAt",
    g.created_at as "createdAt", hit.updated_at as "updatedAt"
  from hit_groups g join agents a on a.organization_id = g.organization_id and a.id = g.detection_id
    cross join lateral (
      select sum(n)::int as n, (${[...severities]}::text[])[max(rank)] as severity, jsonb_object_agg(status, n) as statuses,
        sum(unjudged)::int as unjudged, sum(revision)::bigint as revision, max(last_seen_at) as last_seen_at, max(updated_at) as updated_at,
        (select jsonb_agg(e) from (
          select entity, entity_type as "entityType", severity, id as "hitId" from hits
          where organization_id = g.organization_id and group_id = g.id order by ${severityRank} desc, id limit ${entitiesMax}) e) as entities
      from (
        select status, count(*) as n, max(${severityRank}) as rank, count(*) filter (where not judged) as unjudged, sum(changed_revision) as revision,
          max(last_seen_at) as last_seen_at, max(updated_at) as updated_at
        from hits where organization_id = g.organization_id and group_id = g.id group by status) s
    ) hit
  where g.organization_id = ${orgId} and hit.n is not null and ${condition}`;

type GroupQuery = {
  detection: string | undefined;
  status: string | undefined;
  from: Date | undefined;
  to: Date | undefined;
};

/** Lists `limit` + 1 groups, newest first. */
export function listGroups(
  tx: Tx,
  orgId: OrgId,
  { detection, status, from, to }: GroupQuery,
  { limit, after }: PageRequest,
): Promise<HitGroupRow[]> {
  const conditions: RawBuilder<unknown>[] = [
    sql`true`,
    ...(detection === undefined ? [] : [sql`g.detection_id = ${detection}`]),
    ...(status === undefined ? [] : [sql`hit.statuses ? ${status}`]),
    ...(from === undefined ? [] : [sql`g.window_to > ${from}`]),
    ...(to === undefined ? [] : [sql`g.window_from < ${to}`]),
    ...(after ? [sql`(g.created_at, g.id) < (${after.at}, ${after.id}::uuid)`] : []),
  ];
  return queryRows<HitGroupRow>(
    tx,
  )`${selectGroups(orgId, sql.join(conditions, sql` and `))} order by g.created_at desc, g.id desc limit ${limit + 1}`;
}

export function findGroup(tx: Tx, orgId: OrgId, id: string): Promise<HitGroupRow | undefined> {
  return queryRow<HitGroupRow>(tx)`${selectGroups(orgId, sql`g.id = ${id}`)}`;
}
