import { queryRow, type Tx } from '../../platform/db/db.ts';
import type { OrgId } from '../../platform/lib/org-id.ts';
import { requireQuota } from '../../platform/orgs/limits/quotas.ts';
import type { AgentView } from './record/detection-row.ts';

/** Returns whether an agent counts towards the quota of enabled detections. */
export const isCounted = (agent: AgentView): boolean =>
  agent.agent_type === 'detection' && agent.enabled && !agent.is_suggestion && agent.deleted_at === null;

/** Throws 409 if the organization has as many enabled detections as its quota allows. */
export const requireDetectionQuota = (tx: Tx, orgId: OrgId): Promise<void> =>
  requireQuota(tx, orgId, 'enabledDetections', () => countEnabled(tx, orgId));

async function countEnabled(tx: Tx, orgId: OrgId): Promise<number> {
  const row = await queryRow<{ n: number }>(tx)`
    select count(*) as n from agents
    where organization_id = ${orgId} and agent_type = 'detection' and enabled and not is_suggestion and deleted_at is null`;
  return row!.n;
}
