import type { Tx } from '../../platform/db/db.ts';
import { appError } from '../../platform/lib/errors.ts';
import { insertAudit } from '../../platform/orgs/audit.store.ts';
import type { Caller } from '../../platform/http/caller.ts';
import { findAgent, lockAgent, type ViewScope } from './detection-views.store.ts';
import type { AgentView } from './record/detection-row.ts';

/** Returns the agent if it is a detection or suggestion, deleted or not. Throws 404 for any other kind of agent. */
export function requireDetection(agent: AgentView | undefined, id: string): AgentView {
  if (agent?.agent_type !== 'detection') throw appError('not_found', `Detection ${id} not found.`);
  return agent;
}

/** Like `requireDetection`, but throws 409 if the detection is deleted. */
function requireEditable(agent: AgentView | undefined, id: string): AgentView {
  const detection = requireDetection(agent, id);
  if (detection.deleted_at !== null) throw appError('conflict', `Detection ${id} is deleted. Restore it first.`);
  return detection;
}

/** Reads a detection or suggestion, deleted or not. Throws 404 for any other id. */
export const readDetection = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireDetection(await findAgent(tx, scope, id), id);

/** Like `readDetection`, and locks it until the transaction ends. What belongs to a detection changes with the detection locked. */
export const lockDetection = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireDetection(await lockAgent(tx, scope, id), id);

/** Like `readDetection`, but throws 409 if the detection is deleted. */
export const readEditable = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireEditable(await findAgent(tx, scope, id), id);

/** Locks a detection or suggestion until the transaction ends. Throws 404 for any other id, and 409 if it is deleted. */
export const lockEditable = async (tx: Tx, scope: ViewScope, id: string): Promise<AgentView> =>
  requireEditable(await lockAgent(tx, scope, id), id);

/** Writes the audit row of a change that belongs to a detection but not to its record. */
export const auditDetection = (
  tx: Tx,
  caller: Caller,
  detectionId: string,
  change: { action: string; before: unknown; after: unknown },
): Promise<void> => insertAudit(tx, caller, { ...change, resourceType: 'detection', resourceId: detectionId });
