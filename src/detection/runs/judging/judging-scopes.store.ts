import { queryRows, type Tx } from '../../../platform/db/db.ts';
import { timeOfId } from '../../../platform/lib/ids.ts';
import type { DetectionKey } from '../../scheduling/timeline.ts';
import type { JudgingScope } from './resolutions/resolve-candidates.ts';

type ScopeRow = { id: string; trigger: JudgingScope['trigger']; model: string; definition: string };

/** Scope of a run that is past its retention: it suppresses nothing. */
const deletedRunScope: Omit<JudgingScope, 'detectionId'> = {
  trigger: 'schedule',
  model: '',
  definition: {
    name: '',
    description: '',
    systemPrompt: '',
    suppressionMinutes: 0,
    promptVersion: 0,
    toolNames: [],
    structuredOutputSchema: null,
  },
};

/** Returns the judging scopes of runs of a detection by run ID, each with the revision and the model that the run pinned. */
export async function listJudgingScopes(
  tx: Tx,
  { orgId, detectionId }: DetectionKey,
  runIds: string[],
): Promise<Map<string, JudgingScope>> {
  const found = await queryRows<ScopeRow>(tx)`
      select r.id, r.trigger, r.model, v.definition from runs r
      join agent_revisions v on v.organization_id = r.organization_id and v.agent_id = r.detection_id and v.revision = r.revision
      where r.organization_id = ${orgId} and r.due_at = any(${runIds.map((id) => timeOfId(id).toISOString())}::timestamptz[])
        and r.id = any(${runIds}::uuid[])`;
  const scopes = new Map<string, JudgingScope>(runIds.map((id) => [id, { detectionId, ...deletedRunScope }]));
  for (const { id, trigger, model, definition } of found)
    scopes.set(id, { detectionId, trigger, model, definition: JSON.parse(definition) as JudgingScope['definition'] });
  return scopes;
}
