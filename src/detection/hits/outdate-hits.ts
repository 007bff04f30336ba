import { sql } from 'kysely';
import type { Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { emitFoundHits } from './hit-events.ts';

/** What a window no longer bears out: the hits it had been seen in, and the keys of those that it had made. */
export type Outdated = { hitIds: string[]; makers: string[]; windowFrom: Date; now: Date };

/**
 * Takes a window's occurrences off hits that none of its candidates stands behind any more. A hit without any candidate left is
 * `outdated`, unless a person had judged it; one whose maker is gone is made anew when it is found again.
 */
export async function outdateHits(
  tx: Tx,
  { orgId }: { orgId: OrgId },
  { hitIds, makers, windowFrom, now }: Outdated,
): Promise<void> {
  const standing = sql`select from candidates c where c.organization_id = ${orgId} and c.hit_id = o.hit_id and c.state <> 'outdated'`;
  await sql`delete from hit_occurrences o where o.organization_id = ${orgId} and o.hit_id = any(${hitIds}::uuid[])
    and o.window_from = ${windowFrom} and not exists (${standing} and c.window_from = o.window_from)`.execute(tx);
  await sql`
    update hits h set occurrences = seen.n, first_seen_at = coalesce(seen.first_at, h.first_seen_at),
      last_seen_at = coalesce(seen.last_at, h.last_seen_at), superseded = h.superseded or not seen.stands or (h.key = any(${makers}::text[]) and h.window_from = ${windowFrom}),
      status = case when h.status = 'open' and not seen.stands then 'outdated' else h.status end,
      revision = h.revision + 1, updated_at = ${now}
    from (
      select o.hit_id, (select count(distinct p.window_from) from hit_occurrences p where p.organization_id = ${orgId} and p.hit_id = o.hit_id) as n,
        (select min(p.seen_at) from hit_occurrences p where p.organization_id = ${orgId} and p.hit_id = o.hit_id) as first_at,
        (select max(p.seen_at) from hit_occurrences p where p.organization_id = ${orgId} and p.hit_id = o.hit_id) as last_at,
        exists (${standing}) as stands
      from unnest(${hitIds}::uuid[]) as o (hit_id)
    ) seen
    where h.organization_id = ${orgId} and h.id = seen.hit_id`.execute(tx);
  await emitFoundHits(tx, orgId, hitIds);
}
