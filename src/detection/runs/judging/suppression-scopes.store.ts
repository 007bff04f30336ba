import { sql } from 'kysely';
import { rows, type Tx } from '../../../platform/db/db.ts';
import { timeOfId } from '../../../platform/lib/ids.ts';
import type { OrgId } from '../../../platform/lib/org-id.ts';
import type { Scope } from './resolve-candidates.ts';

type ScopeRow = { id: string; trigger: Scope['trigger']; model: string; definition: string };

/** A run that is kept no longer has nothing suppressed. */
const forgotten: Omit<Scope, 'detectionId'> = {
  trigger: 'schedule',
  model: '',
  definition: { suppressionMinutes: 0, promptVersion: 0, toolNames: [], structuredOutputSchema: null },
};

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
  const kept = new Map(found.map((run) => [run.id, run]));
  return new Map(
    runIds.map((id) => {
      const run = kept.get(id);
      if (!run) return [id, { detectionId, ...forgotten }];
      const { trigger, model, definition } = run;
      return [id, { detectionId, trigger, model, definition: JSON.parse(definition) as Scope['definition'] }];
    }),
  );
}
