import { queryRow, queryRows, type Tx } from '../../../platform/db/db.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Definition } from '../record/definition.ts';
import type { DetectionKey } from '../../scheduling/detection-key.ts';
import type { AuthorColumns } from './author.ts';

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
