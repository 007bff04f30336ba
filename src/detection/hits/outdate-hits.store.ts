import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitRunHitEvents } from './hit-events.ts';

/** The hits of a window's outdated candidates, and the keys of the hits that they created. */
export type OutdatedWindow = { hitIds: string[]; hitKeys: string[]; windowFrom: Date; now: Date };

/**
 * Removes the occurrences of a window from hits that no candidate of the window supports any more. An open hit without any
 * candidate becomes `outdated`. A hit whose first candidate is outdated is superseded: it is replaced when it is found again.
 */
export async function outdateHits(
  tx: Tx,
  orgId: OrgId,
  { hitIds, hitKeys, windowFrom, now }: OutdatedWindow,
): Promise<void> {
  const supporting = sql`select from candidates c where c.organization_id = ${orgId} and c.hit_id = o.hit_id and c.state <> 'outdated'`;
  await sql`delete from hit_occurrences o where o.organization_id = ${orgId} and o.hit_id = any(${hitIds}::uuid[])
    and o.window_from = ${windowFrom} and not exists (${supporting} and c.window_from = o.window_from)`.execute(tx);
  await sql`
    update hits h set occurrences = seen.windows, first_seen_at = coalesce(seen.first_at, h.first_seen_at),
      last_seen_at = coalesce(seen.last_at, h.last_seen_at),
      superseded = h.superseded or not seen.is_supported or (h.key = any(${hitKeys}::text[]) and h.window_from = ${windowFrom}),
      status = case when h.status = 'open' and not seen.is_supported then 'outdated' else h.status end,
      revision = h.revision + 1, updated_at = ${now},
      changed_revision = case when h.status = 'open' and not seen.is_supported then h.revision + 1 else h.changed_revision end
    from (
      select o.hit_id, count(distinct p.window_from) as windows, min(p.seen_at) as first_at, max(p.seen_at) as last_at,
        exists (${supporting}) as is_supported
      from unnest(${hitIds}::uuid[]) as o (hit_id)
        left join hit_occurrences p on p.organization_id = ${orgId} and p.hit_id = o.hit_id
      group by o.hit_id
    ) seen
    where h.organization_id = ${orgId} and h.id = seen.hit_id`.execute(tx);
  await emitRunHitEvents(tx, orgId, hitIds);
}
