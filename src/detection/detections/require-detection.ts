import { appError } from '../../platform/lib/errors.ts';
import type { AgentView } from './record/detection-row.ts';

/** Returns the agent if it is a detection or suggestion, deleted or not. Throws 404 for any other kind of agent. */
export function requireDetection(agent: AgentView | undefined, id: string): AgentView {
  if (agent?.agent_type !== 'detection') throw appError('not_found', `Detection ${id} not found.`);
  return agent;
}

/** Like `requireDetection`, but throws 409 if the detection is deleted. */
export function requireEditable(agent: AgentView | undefined, id: string): AgentView {
  const detection = requireDetection(agent, id);
  if (detection.deleted_at !== null) throw appError('conflict', `Detection ${id} is deleted. Restore it first.`);
  return detection;
}
