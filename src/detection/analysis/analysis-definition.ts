import { hash } from 'node:crypto';
import type { DetectionCategory } from './candidate.ts';

/** What the analysis needs of a detection. `cadence` is the effective cron, `slotMs` the longest distance between neighbouring slots (0 without a schedule). */
export type AnalysisDefinition = {
  category: DetectionCategory;
  query: string;
  entityField: string | null;
  timeField: string | null;
  connectionId: string | null;
  cadence: string | null;
  slotMs: number;
};

/** `[from, to)`. `aggregate`: the rows are groups, not events. */
export type AnalysisWindow = { from: Date; to: Date; aggregate: boolean };

export const dayMs = 86_400_000;
export const weekMs = 7 * dayMs;

/** Names what memory belongs to: whatever would make counts and values of two windows incomparable is part of it. sha256 hex. */
export function generationOf(definition: AnalysisDefinition): string {
  const { query, category, entityField, timeField, connectionId, cadence } = definition;
  return hash('sha256', JSON.stringify([query, category, entityField, timeField, connectionId, cadence]));
}
