import { type AnalysisDefinition, dayMs, weekMs } from './analysis-definition.ts';
import type { Sensitivity, Tuning } from './tuning.schema.ts';
import type { DetectionCategory } from './candidate.ts';

/** The robust z from which a number is a candidate. */
export const zBySensitivity: Record<Sensitivity, number> = { low: 7, medium: 3.5, high: 2.5 };

type Novelty = { windowsMin: number; usualPerWeek: number };
/**
 * A new value of an entity counts only if the entity was in at least `windowsMin` earlier windows. New values that entities show more than
 * `usualPerWeek` times a week do not count.
 */
const noveltyBySensitivity: Record<Sensitivity, Novelty> = {
  low: { windowsMin: 24, usualPerWeek: 0.25 },
  medium: { windowsMin: 4, usualPerWeek: 1 },
  high: { windowsMin: 0, usualPerWeek: Infinity },
};

type Increase = { chancePerWeek: number; ratioMin: number; usualPerWeek: number };
/**
 * An increase is rare if chance alone makes one as surprising at most `chancePerWeek` times a week in all entities, if it is `ratioMin` times the
 * largest earlier one of the entity, and if at most `usualPerWeek` peers a week were as surprising. One that is to be expected by chance, and as
 * surprising as more than `usualPerWeek` earlier ones a week, is no candidate.
 */
const increaseBySensitivity: Record<Sensitivity, Increase> = {
  low: { chancePerWeek: 0.02, ratioMin: 2, usualPerWeek: 0.25 },
  medium: { chancePerWeek: 0.1, ratioMin: 1.5, usualPerWeek: 1 },
  high: { chancePerWeek: Infinity, ratioMin: 1, usualPerWeek: Infinity },
};

/** Completions per week above which a sequence is usual, if it completed at least twice. */
const sequencesPerWeek: Record<Sensitivity, number> = { low: 0.25, medium: 1, high: Infinity };

type Tuned = Pick<AnalysisDefinition, 'tuning'>;
const sensitivityOf = ({ tuning }: Tuned): Sensitivity => tuning?.sensitivity ?? 'medium';

export const noveltyLimits = (definition: Tuned): Novelty => noveltyBySensitivity[sensitivityOf(definition)];
export const increaseLimits = (definition: Tuned): Increase => increaseBySensitivity[sensitivityOf(definition)];
export const usualSequencesPerWeek = (definition: Tuned): number => sequencesPerWeek[sensitivityOf(definition)];

/** Returns the number of other entities that must have shown a value before it counts as known. 0: other entities are ignored. */
export const peersMin = ({ tuning }: Tuned): number => tuning?.peers?.minimum ?? 3;

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

const categoriesByField: Record<keyof Tuning, readonly DetectionCategory[] | 'all'> = {
  minimumCount: 'all',
  allowLists: 'all',
  workingHours: 'all',
  sensitivity: ['first_occurrence', 'baseline_anomaly', 'sequence_pattern'],
  peers: ['first_occurrence', 'baseline_anomaly'],
  minimumIncrease: ['baseline_anomaly'],
  historyDays: ['first_occurrence', 'baseline_anomaly'],
  sequenceHours: ['sequence_pattern'],
};

/** Returns the first field of a tuning that a category does not use, with the reason, or undefined. */
export function findUnusedTuning(
  tuning: Tuning,
  category: DetectionCategory,
): { field: string; detail: string } | undefined {
  for (const field of Object.keys(tuning) as (keyof Tuning)[]) {
    const used = categoriesByField[field];
    if (tuning[field] === undefined || used === 'all' || used.includes(category)) continue;
    return { field, detail: `applies to ${used.join(' and ')} only. This detection is ${category}.` };
  }
  if (tuning.peers?.by !== undefined && category === 'first_occurrence')
    return {
      field: 'peers/by',
      detail:
        'applies to baseline_anomaly only. A first occurrence counts others with the same combination of values, so let the query return the column.',
    };
  return undefined;
}
