import type { Tuning } from './tuning.schema.ts';

/** The fields of a detection that analysis uses. `cadence` is the effective cron expression, `slotMs` the longest time between two slots (0 without a schedule). */
export type AnalysisDefinition = {
  category: string;
  query: string;
  entityField: string | null;
  timeField: string | null;
  connectionId: string | null;
  cadence: string | null;
  slotMs: number;
  /** Absent: the defaults apply. */
  tuning?: Tuning;
  /** Each event is a candidate of its own. Absent: each entity is. */
  continuous?: true;
};

/** The time range `[from, to)`. `aggregate`: the rows are groups, not events. */
export type AnalysisWindow = { from: Date; to: Date; aggregate: boolean };

export const dayMs = 86_400_000;
export const weekMs = 7 * dayMs;
