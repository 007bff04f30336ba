import type { DetectionCategory } from '../candidate.ts';
import type { Tuning } from './tuning.schema.ts';

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
