import { sql } from 'kysely';
import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { Definition } from '../record/detection-record.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';

/** The author columns of a version: the key, its name, and the person or key that signed in. */
type AuthorColumns = { keyId: string | null; keyName: string | null; actor: string | null };

export const toAuthor = ({
  keyId,
  keyName,
  actor,
}: AuthorColumns): { keyId: string | null; name: string | null } | null =>
  keyId === null && actor === null ? null : { keyId, name: actor ?? keyName };

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

/** Returns a detection's current definition, whether it is deleted or not. */
export async function findDefinition(tx: Tx, orgId: OrgId, detectionId: string): Promise<Definition | undefined> {
  const found = await queryRow<{ definition: string }>(tx)`
      select v.definition from agents a join agent_revisions v
        on v.organization_id = a.organization_id and v.agent_id = a.id and v.revision = a.revision
      where a.organization_id = ${orgId} and a.id = ${detectionId} and a.agent_type = 'detection'`;
  return found && (JSON.parse(found.definition) as Definition);
}

export type RevisionRow = AuthorColumns & {
  revision: number;
  createdAt: Date;
  definition: string;
  /** Definition of the previous revision. */
  previous: string | null;
};

/** Returns a detection's revisions, newest first, below a revision number if `below` is set. */
export function listRevisions(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  { below, limit }: { below: number | null; limit: number },
): Promise<RevisionRow[]> {
  return queryRows<RevisionRow>(tx)`
      select v.revision, v.created_at as "createdAt", v.key_id as "keyId", v.actor, k.name as "keyName", v.definition, b.definition as previous
      from agent_revisions v
      left join agent_revisions b on b.organization_id = v.organization_id and b.agent_id = v.agent_id and b.revision = v.revision - 1
      left join api_keys k on k.organization_id = v.organization_id and k.id = v.key_id
      where v.organization_id = ${orgId} and v.agent_id = ${detectionId} and (${below}::int is null or v.revision < ${below})
      order by v.revision desc limit ${limit}`;
}

export async function findRevision(tx: Tx, key: DetectionKey, revision: number): Promise<RevisionRow | undefined> {
  const [found] = await listRevisions(tx, key, { below: revision + 1, limit: 1 });
  return found?.revision === revision ? found : undefined;
}
