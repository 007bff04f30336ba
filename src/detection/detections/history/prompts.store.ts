import { sql } from 'kysely';
import { row, rows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Definition } from '../record/definition.ts';

type Ref = { orgId: OrgId; detectionId: string };

/** One version of a detection's prompt. */
export function findPrompt(
  tx: Tx,
  { orgId, detectionId, version }: Ref & { version: number },
): Promise<Pick<Definition, 'promptId' | 'systemPrompt'> | undefined> {
  return row(
    tx,
    sql<Pick<Definition, 'promptId' | 'systemPrompt'>>`
      select id as "promptId", prompt as "systemPrompt" from agent_prompts
      where organization_id = ${orgId} and agent_id = ${detectionId} and version = ${version}`,
  );
}

export type PromptRow = {
  id: string;
  version: number;
  prompt: string;
  description: string;
  createdAt: Date;
  keyId: string | null;
  keyName: string | null;
};

/** Versions of a detection's prompt, newest first, below a number if one is given. */
export function listPrompts(
  tx: Tx,
  { orgId, detectionId }: Ref,
  { below, limit }: { below: number | null; limit: number },
): Promise<PromptRow[]> {
  return rows(
    tx,
    sql<PromptRow>`
      select p.id, p.version, p.prompt, p.description, p.created_at as "createdAt", p.key_id as "keyId", k.name as "keyName"
      from agent_prompts p left join api_keys k on k.organization_id = p.organization_id and k.id = p.key_id
      where p.organization_id = ${orgId} and p.agent_id = ${detectionId} and (${below}::int is null or p.version < ${below})
      order by p.version desc limit ${limit}`,
  );
}

/** One version with everything that is kept of it. */
export async function findPromptVersion(tx: Tx, ref: Ref, version: number): Promise<PromptRow | undefined> {
  const [found] = await listPrompts(tx, ref, { below: version + 1, limit: 1 });
  return found?.version === version ? found : undefined;
}

/** Stores the next version beside the active one. The caller holds the agent's row. */
export async function insertPromptVersion(
  tx: Tx,
  { orgId, detectionId }: Ref,
  { id, version, prompt, description, createdAt, keyId }: Omit<PromptRow, 'keyName'>,
): Promise<void> {
  await sql`
    with agent as (
      update agents set latest_prompt_version = ${version} where organization_id = ${orgId} and id = ${detectionId}
    )
    insert into agent_prompts (organization_id, id, agent_id, version, prompt, description, created_at, key_id)
    values (${orgId}, ${id}, ${detectionId}, ${version}, ${prompt}, ${description}, ${createdAt}, ${keyId})`.execute(
    tx,
  );
}
