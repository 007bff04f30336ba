import { hash } from 'node:crypto';
import type { DetectionCategory } from './candidate.ts';
import type { Tuning } from './tuning.schema.ts';

/** The fields of a detection that analysis uses. `cadence` is the effective cron expression, `slotMs` the longest time between two slots (0 without a schedule). */
export type AnalysisDefinition = {
  category: DetectionCategory;
  query: string;
  entityField: string | null;
  timeField: string | null;
  connectionId: string | null;
  cadence: string | null;
  slotMs: number;
  /** Absent: the defaults apply. */
  tuning?: Tuning;
};

/** The time range `[from, to)`. `aggregate`: the rows are groups, not events. */
export type AnalysisWindow = { from: Date; to: Date; aggregate: boolean };

export const dayMs = 86_400_000;
export const weekMs = 7 * dayMs;

/** Change it when the same rows are remembered in another way. What was remembered before is then learned anew. */
const memoryFormat = 2;

/** Returns the SHA-256 (hex) of all fields that must be equal for two windows to be comparable. Memory belongs to one generation. */
export function computeGeneration(definition: AnalysisDefinition): string {
  const { query, category, entityField, timeField, connectionId, cadence, tuning } = definition;
  const parts = [memoryFormat, query, category, entityField, timeField, connectionId, cadence];
  // The other fields of the tuning do not change what is remembered.
  if (tuning?.sequenceHours !== undefined) parts.push(`sequenceHours=${tuning.sequenceHours}`);
  if (tuning?.peers?.by !== undefined) parts.push(`peers.by=${tuning.peers.by}`);
  return hash('sha256', JSON.stringify(parts));
}
