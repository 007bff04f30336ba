import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

export type AlarmLevel = 'nearing' | 'reached';

/** Claims organizations whose quotas were not checked for `everyMs`, and marks them as checked. */
export async function claimUncheckedAcrossOrgs(tx: Tx, everyMs: number, limit: number): Promise<OrgId[]> {
  const rows = await queryRows<{ id: OrgId }>(tx)`
    update organization_limits set checked_at = clock_timestamp() where organization_id in (
      select organization_id from organization_limits
      where checked_at is null or checked_at < clock_timestamp() - ${`${everyMs} milliseconds`}::interval
      order by checked_at nulls first limit ${limit} for update skip locked)
    returning organization_id as id`;
  return rows.map(({ id }) => id);
}

/** Returns and locks the alarms of an organization by quota. */
export async function lockAlarms(tx: Tx, orgId: OrgId): Promise<Map<string, AlarmLevel>> {
  const rows = await queryRows<{ quota: string; level: AlarmLevel }>(
    tx,
  )`select quota, level from quota_alarms where organization_id = ${orgId} for update`;
  return new Map(rows.map(({ quota, level }) => [quota, level]));
}

export async function setAlarm(tx: Tx, orgId: OrgId, quota: string, level: AlarmLevel): Promise<void> {
  await sql`
    insert into quota_alarms (organization_id, quota, level, since) values (${orgId}, ${quota}, ${level}, clock_timestamp())
    on conflict (organization_id, quota) do update set level = excluded.level, since = excluded.since`.execute(tx);
}

export async function deleteAlarm(tx: Tx, orgId: OrgId, quota: string): Promise<void> {
  await sql`delete from quota_alarms where organization_id = ${orgId} and quota = ${quota}`.execute(tx);
}
