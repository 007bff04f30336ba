import { sql } from 'kysely';
import { rows, type Tx } from '../db/db.ts';
import { timeOfId } from '../lib/ids.ts';
import type { OrgId } from '../lib/org-id.ts';
import type { Scope } from './decide.ts';

type ScopeRow = { id: string; trigger: Scope['trigger']; model: string; definition: string };

/** What verdicts of these runs of a detection may stand for, by run: each with the revision and the model that it pinned. */
export async function listScopes(
  tx: Tx,
  { orgId, detectionId }: { orgId: OrgId; detectionId: string },
  runIds: string[],
): Promise<Map<string, Scope>> {
  const found = await rows(
    tx,
    sql<ScopeRow>`
      select r.id, r.trigger, r.model, v.definition from runs r
      join agent_revisions v on v.organization_id = r.organization_id and v.agent_id = r.detection_id and v.revision = r.revision
      where r.organization_id = ${orgId} and r.due_at = any(${runIds.map((id) => timeOfId(id).toISOString())}::timestamptz[])
        and r.id = any(${runIds}::uuid[])`,
  );
  return new Map(
    found.map(({ id, trigger, model, definition }) => [
      id,
      { detectionId, trigger, model, definition: JSON.parse(definition) as Scope['definition'] },
    ]),
  );
}
