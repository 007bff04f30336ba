import { hash } from 'node:crypto';
import type { AgentRow } from './detection-row.ts';

/** Returns a SHA-256 hash (hex) of category and query that ignores case and white space. Suggestions with the same hash are look-alikes. */
export function suggestionFingerprint(agent: Pick<AgentRow, 'detection_category' | 'detection_query'>): string {
  const query = (agent.detection_query ?? '').replace(/\s+/g, ' ').trim().toLowerCase();
  return hash('sha256', `${agent.detection_category}\n${query}`);
}
