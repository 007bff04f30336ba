import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Definition } from '../record/definition.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { AuthorColumns } from './author.ts';

/** Returns the id and text of one prompt version, as a definition has them. */
export function findPromptText(
  tx: Tx,
  { orgId, detectionId, version }: DetectionKey & { version: number },
): Promise<Pick<Definition, 'promptId' | 'systemPrompt'> | undefined> {
  return queryRow<Pick<Definition, 'promptId' | 'systemPrompt'>>(tx)`
      select id as "promptId", prompt as "systemPrompt" from agent_prompts
      where organization_id = ${orgId} and agent_id = ${detectionId} and version = ${version}`;
}

export type PromptRow = AuthorColumns & {
  id: string;
  version: number;
  prompt: string;
  description: string;
  createdAt: Date;
};

/** Returns a detection's prompt versions, newest first, below a version number if `below` is set. */
export function listPrompts(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { below, limit }: { below: number | null; limit: number },
): Promise<PromptRow[]> {
  return queryRows<PromptRow>(tx)`
      select p.id, p.version, p.prompt, p.description, p.created_at as "createdAt", p.key_id as "keyId", p.actor, k.name as "keyName"
      from agent_prompts p left join api_keys k on k.organization_id = p.organization_id and k.id = p.key_id
      where p.organization_id = ${orgId} and p.agent_id = ${detectionId} and (${below}::int is null or p.version < ${below})
      order by p.version desc limit ${limit}`;
}

/** Returns one prompt version with its description and author. */
export async function findPromptVersion(tx: Tx, key: DetectionKey, version: number): Promise<PromptRow | undefined> {
  const [found] = await listPrompts(tx, key, { below: version + 1, limit: 1 });
  return found?.version === version ? found : undefined;
}

/** Stores the next prompt version without activating it. The caller must have locked the agent's row. */
export async function insertPromptVersion(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { id, version, prompt, description, createdAt, keyId, actor }: Omit<PromptRow, 'keyName'>,
): Promise<void> {
  await sql`
    with agent as (
      update agents set latest_prompt_version = ${version} where organization_id = ${orgId} and id = ${detectionId}
    )
    insert into agent_prompts (organization_id, id, agent_id, version, prompt, description, created_at, key_id, actor)
    values (${orgId}, ${id}, ${detectionId}, ${version}, ${prompt}, ${description}, ${createdAt}, ${keyId}, ${actor})`.execute(
    tx,
  );
}
