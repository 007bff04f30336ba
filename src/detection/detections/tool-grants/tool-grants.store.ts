import { sql } from 'kysely';
import { queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { ToolGrantSettings } from '../../tools/tool-definition.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';

export type GrantRow = {
  tool: string;
  settings: ToolGrantSettings;
  keyId: string | null;
  actor: string | null;
  createdAt: Date;
};

/** Returns the tools that an administrator has granted to a detection, sorted by name. */
export async function listGrants(tx: Tx, orgId: OrgId, detectionId: string): Promise<GrantRow[]> {
  const found = await queryRows<Omit<GrantRow, 'settings'> & { settings: string }>(tx)`
      select tool, settings, key_id as "keyId", actor, created_at as "createdAt" from tool_grants
      where organization_id = ${orgId} and detection_id = ${detectionId} order by tool`;
  return found.map((grant) => ({ ...grant, settings: JSON.parse(grant.settings) as ToolGrantSettings }));
}

/** Stores a grant. Its time moves strictly forward. */
export async function upsertGrant(tx: Tx, key: DetectionKey, grant: GrantRow): Promise<void> {
  await sql`
    insert into tool_grants (organization_id, detection_id, tool, settings, key_id, actor, created_at)
    values (${key.orgId}, ${key.detectionId}, ${grant.tool}, ${JSON.stringify(grant.settings)}, ${grant.keyId}, ${grant.actor},
      ${grant.createdAt})
    on conflict (organization_id, detection_id, tool) do update set settings = excluded.settings, key_id = excluded.key_id, actor = excluded.actor,
      created_at = greatest(excluded.created_at, tool_grants.created_at + interval '1 millisecond')`.execute(tx);
}

export async function deleteGrant(tx: Tx, key: DetectionKey, tool: string): Promise<void> {
  await sql`
    delete from tool_grants
      where organization_id = ${key.orgId} and detection_id = ${key.detectionId} and tool = ${tool}`.execute(tx);
}
