import { sql } from 'kysely';
import { queryRows, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';

/** Returns those of the hashes whose events the organization has received within the last 24 hours. */
export async function listKnownIds(tx: Tx, orgId: OrgId, hashes: string[]): Promise<Set<string>> {
  const rows = await queryRows<{ hash: string }>(tx)`
    select id_hash as hash from log_event_ids
    where organization_id = ${orgId} and id_hash = any(${hashes}::uuid[]) and received_at > now() - interval '24 hours'`;
  return new Set(rows.map(({ hash }) => hash));
}

/** Records the IDs of events. Returns false if another request has recorded one of them meanwhile. */
export async function insertEventIds(tx: Tx, orgId: OrgId, hashes: string[]): Promise<boolean> {
  const { numAffectedRows } = await sql`
    insert into log_event_ids (organization_id, id_hash)
    select ${orgId}, hash from unnest(${hashes.toSorted()}::uuid[]) as listed (hash) order by hash
    on conflict (organization_id, id_hash) do update set received_at = excluded.received_at
      where log_event_ids.received_at <= now() - interval '24 hours'`.execute(tx);
  return Number(numAffectedRows ?? 0) === hashes.length;
}
