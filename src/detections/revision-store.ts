import { sql } from 'kysely';
import { row, type Tx } from '../db/db.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Definition } from './definition.ts';

/** A detection's definition as it is now, deleted or not. */
export async function findDefinition(tx: Tx, orgId: OrgId, detectionId: string): Promise<Definition | undefined> {
  const found = await row(
    tx,
    sql<{ definition: string }>`
      select v.definition from agents a join agent_revisions v
        on v.organization_id = a.organization_id and v.agent_id = a.id and v.revision = a.revision
      where a.organization_id = ${orgId} and a.id = ${detectionId} and a.agent_type = 'detection'`,
  );
  return found && (JSON.parse(found.definition) as Definition);
}

/** One version of a detection's prompt. */
export function findPrompt(
  tx: Tx,
  { orgId, detectionId, version }: { orgId: OrgId; detectionId: string; version: number },
): Promise<Pick<Definition, 'promptId' | 'systemPrompt'> | undefined> {
  return row(
    tx,
    sql<Pick<Definition, 'promptId' | 'systemPrompt'>>`
      select id as "promptId", prompt as "systemPrompt" from agent_prompts
      where organization_id = ${orgId} and agent_id = ${detectionId} and version = ${version}`,
  );
}
