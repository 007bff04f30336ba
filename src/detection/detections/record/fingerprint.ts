import { hash } from 'node:crypto';
import type { Agent } from './detection-row.ts';

/** Two suggestions look alike when category and query are the same but for case and blanks. sha256 hex. */
export function fingerprintOf(agent: Pick<Agent, 'detection_category' | 'detection_query'>): string {
  const query = (agent.detection_query ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  return hash('sha256', `${agent.detection_category}\n${query}`);
}
