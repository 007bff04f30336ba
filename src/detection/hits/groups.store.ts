import { sql, type RawBuilder } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import type { PageRequest } from '../../platform/lib/page-request.ts';
import { severities } from '../analysis/candidate.ts';
import type { HitGroup } from './hits.schema.ts';
import { uuidv7 } from '../../platform/lib/ids.ts';
import { belongsTo, type Expiry } from '../../platform/retention/organization-retention.store.ts';

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
  return queryRows<HitGroupRow>(tx)`
    ${selectGroups(orgId, sql.join(conditions, sql` and `))} order by g.created_at desc, g.id desc limit ${limit + 1}`;
}

export function findGroup(tx: Tx, orgId: OrgId, id: string): Promise<HitGroupRow | undefined> {
  return queryRow<HitGroupRow>(tx)`${selectGroups(orgId, sql`g.id = ${id}`)}`;
}

/** A window with this many hits of one detection is a wave: its hits form a group. */
const groupHitsMin = 5;

type HitWindow = { from: Date; to: Date };

/** Puts the hits of each window of a detection into the group of the window, if there are enough of them. */
export async function assignGroups(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
  windows: HitWindow[],
  now: Date,
): Promise<void> {
  for (const { from, to } of distinctWindows(windows)) {
    const inWindow = sql`h.organization_id = ${orgId} and h.detection_id = ${detectionId} and h.window_from = ${from} and h.window_to = ${to}`;
    const joined = await queryRows<{ groupId: string; n: number }>(tx)`
      with grouped as (
        insert into hit_groups (organization_id, id, detection_id, window_from, window_to, created_at, updated_at)
        select ${orgId}::uuid, ${uuidv7(now)}::uuid, ${detectionId}::uuid, ${from}::timestamptz, ${to}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
        where (select count(*) from (select from hits h where ${inWindow} limit ${groupHitsMin}) h) = ${groupHitsMin}
        on conflict (organization_id, detection_id, window_from, window_to) do update set updated_at = excluded.updated_at
        returning id
      ), joined as (
        update hits h set group_id = grouped.id from grouped where ${inWindow} and h.group_id is null returning h.group_id
      )
      select group_id as "groupId", count(*)::int as n from joined group by group_id`;
    for (const { groupId, n } of joined)
      await sql`
        update hit_groups set hits = hits + ${n} where organization_id = ${orgId} and id = ${groupId}`.execute(tx);
  }
}

function distinctWindows(windows: HitWindow[]): HitWindow[] {
  const byTime = new Map(windows.map((window) => [`${window.from.getTime()} ${window.to.getTime()}`, window]));
  // A fixed order prevents deadlocks between runs.
  return [...byTime.values()].toSorted(
    (a, b) => a.from.getTime() - b.from.getTime() || a.to.getTime() - b.to.getTime(),
  );
}

/** Counts an event about a group. Returns its revision, and the number of hits at the previous event. */
export async function countGroupEvent(
  tx: Tx,
  orgId: OrgId,
  id: string,
): Promise<{ revision: number; announced: number } | undefined> {
  return queryRow<{ revision: number; announced: number }>(tx)`
      update hit_groups g set revision = g.revision + 1, announced = g.hits, has_changes = false from hit_groups old
      where g.organization_id = ${orgId} and g.id = ${id} and old.organization_id = g.organization_id and old.id = g.id
      returning g.revision, old.announced`;
}

/** Returns which of the groups have had an event. */
export async function listAnnouncedGroups(tx: Tx, orgId: OrgId, ids: string[]): Promise<Set<string>> {
  const found = await queryRows<{ id: string }>(tx)`
      select id from hit_groups where organization_id = ${orgId} and id = any(${ids}::uuid[]) and announced > 0`;
  return new Set(found.map(({ id }) => id));
}

/** Records that a hit of the group changed, so that the end of the run emits one event for all its changes. */
export async function markGroupChanged(tx: Tx, orgId: OrgId, id: string): Promise<void> {
  await sql`update hit_groups set has_changes = true where organization_id = ${orgId} and id = ${id}`.execute(tx);
}

/** Lists the groups of a detection that have grown or changed since their latest event. */
export async function listGrownGroups(tx: Tx, orgId: OrgId, detectionId: string): Promise<string[]> {
  const found = await queryRows<{ id: string }>(tx)`
      select id from hit_groups where organization_id = ${orgId} and detection_id = ${detectionId} and announced > 0 and (announced < hits or has_changes)
      order by id`;
  return found.map(({ id }) => id);
}

/** Deletes at most `limit` groups whose hits are all deleted. */
export async function deleteEmptyGroupsAcrossOrgs(tx: Tx, expiry: Expiry, limit: number): Promise<void> {
  await sql`delete from hit_groups where (organization_id, id) in (
    select organization_id, id from hit_groups g where updated_at < ${expiry.before} and ${belongsTo(expiry)}
      and not exists (select from hits h
      where h.organization_id = g.organization_id and h.group_id = g.id) limit ${limit})`.execute(tx);
}
