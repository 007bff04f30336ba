import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

export type Grant = { tool: string; settings: Record<string, unknown>; keyId: string | null; createdAt: Date };

/** What an administrator allowed a detection to use, by name. */
export async function listGrants(tx: Tx, orgId: OrgId, detectionId: string): Promise<Grant[]> {
  const found = await rows(
    tx,
    sql<Omit<Grant, 'settings'> & { settings: string }>`
      select tool, settings, key_id as "keyId", created_at as "createdAt" from tool_grants
      where organization_id = ${orgId} and detection_id = ${detectionId} order by tool`,
  );
  return found.map((grant) => ({ ...grant, settings: JSON.parse(grant.settings) as Record<string, unknown> }));
}

export async function upsertGrant(tx: Tx, of: { orgId: OrgId; detectionId: string }, grant: Grant): Promise<void> {
  await sql`
    insert into tool_grants (organization_id, detection_id, tool, settings, key_id, created_at)
    values (${of.orgId}, ${of.detectionId}, ${grant.tool}, ${JSON.stringify(grant.settings)}, ${grant.keyId}, ${grant.createdAt})
    on conflict (organization_id, detection_id, tool) do update set settings = excluded.settings, key_id = excluded.key_id,
      created_at = excluded.created_at`.execute(tx);
}

export async function deleteGrant(tx: Tx, of: { orgId: OrgId; detectionId: string }, tool: string): Promise<void> {
  await sql`delete from tool_grants where organization_id = ${of.orgId} and detection_id = ${of.detectionId} and tool = ${tool}`.execute(
    tx,
  );
}
