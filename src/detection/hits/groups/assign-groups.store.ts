import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { uuidv7 } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

/** A window with this many hits of one detection is a wave: its hits form a group. */
export const groupHitsMin = 5;

export type HitWindow = { from: Date; to: Date };

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
      await sql`update hit_groups set hits = hits + ${n} where organization_id = ${orgId} and id = ${groupId}`.execute(
        tx,
      );
  }
}

function distinctWindows(windows: HitWindow[]): HitWindow[] {
  const byTime = new Map(windows.map((window) => [`${window.from.getTime()} ${window.to.getTime()}`, window]));
  // A fixed order prevents deadlocks between runs.
  return [...byTime.values()].toSorted(
    (a, b) => a.from.getTime() - b.from.getTime() || a.to.getTime() - b.to.getTime(),
  );
}
