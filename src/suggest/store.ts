import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';

/** Documents of the newest items that the organization sees, are not retracted, and are of severity medium or above. */
export async function listRecentItems(
  tx: Tx,
  orgId: OrgId,
  { since, limit }: { since: Date; limit: number },
): Promise<string[]> {
  const found = await rows(
    tx,
    sql<{ doc: string }>`
      select i.doc from items i join feed_pools p on p.id = i.pool_id
      where (p.kind = 'public' or p.organization_id = ${orgId} or (p.kind = 'assigned' and ${orgId}::uuid = any(p.assigned_to)))
        and i.added_to_feed_at > ${since} and i.status <> 'retracted' and i.severity in ('medium', 'high', 'critical')
      order by i.added_to_feed_at desc, i.id desc limit ${limit}`,
  );
  return found.map(({ doc }) => doc);
}

/** Keys and fingerprints of what the organization has, or had until after `since`. */
export async function listKnown(
  tx: Tx,
  orgId: OrgId,
  since: Date,
): Promise<{ keys: Set<string>; queries: Set<string> }> {
  const found = await rows(
    tx,
    sql<{ key: string | null; query: string | null }>`
      select suggestion_key as key, detection_query as query from agents
      where organization_id = ${orgId} and agent_type = 'detection' and (deleted_at is null or deleted_at > ${since})`,
  );
  return {
    keys: new Set(found.flatMap(({ key }) => key ?? [])),
    queries: new Set(found.flatMap(({ query }) => query ?? [])),
  };
}
