import { sql } from 'kysely';
import { belongsTo, type Expiry } from '../../../platform/retention/organization-retention.store.ts';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

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
      and not exists (select from hits h where h.organization_id = g.organization_id and h.group_id = g.id) limit ${limit})`.execute(
    tx,
  );
}
