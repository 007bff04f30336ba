import { type AnalysisDefinition, dayMs, weekMs } from '../analysis-definition.ts';
import type { Sensitivity } from './tuning.schema.ts';

/** The robust z from which a number is a candidate. */
export const zBySensitivity: Record<Sensitivity, number> = { low: 7, medium: 3.5, high: 2.5 };

const defaultHistoryDays = 30;
const defaultSequenceHours = 24;

/** Returns how many days of history a first occurrence is compared with. */
export const firstOccurrenceDays = ({ tuning }: Pick<AnalysisDefinition, 'tuning'>): number =>
  tuning?.historyDays ?? defaultHistoryDays;

/** Returns how far back a baseline reads: eight weeks, or 26 weeks if slots are a week or more apart. */
export function baselineMs({ tuning, slotMs }: Pick<AnalysisDefinition, 'tuning' | 'slotMs'>): number {
  if (tuning?.historyDays !== undefined) return tuning.historyDays * dayMs;
  return slotMs >= weekMs ? 26 * weekMs : 8 * weekMs;
}

/** Returns the longest time from the first to the last step of a sequence. */
export const sequenceMs = ({ tuning }: Pick<AnalysisDefinition, 'tuning'>): number =>
  (tuning?.sequenceHours ?? defaultSequenceHours) * 3_600_000;
