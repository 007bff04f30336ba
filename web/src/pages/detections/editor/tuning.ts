import type { DetectionCategory, NewDetection } from '../../../api/detections.ts';

export type Tuning = NonNullable<NewDetection['tuning']>;

/** The categories that use a part of the tuning. The API refuses the others. */
const categories: Partial<Record<keyof Tuning, readonly DetectionCategory[]>> = {
  sensitivity: ['first_occurrence', 'baseline_anomaly', 'sequence_pattern'],
  peers: ['first_occurrence', 'baseline_anomaly'],
  minimumIncrease: ['baseline_anomaly'],
  historyDays: ['first_occurrence', 'baseline_anomaly'],
  sequenceHours: ['sequence_pattern'],
};

export const usesTuning = (field: keyof Tuning, category: DetectionCategory): boolean =>
  categories[field]?.includes(category) ?? true;

/** Returns the parts of a tuning that are set and that the category uses. */
export function tuningOf(tuning: Tuning, category: DetectionCategory): Tuning {
  const { by, minimum } = tuning.peers ?? {};
  const peers = {
    ...(by !== undefined && category === 'baseline_anomaly' && { by }),
    ...(minimum !== undefined && { minimum }),
  };
  const parts: Tuning = { ...tuning, peers: Object.keys(peers).length === 0 ? undefined : peers };
  return Object.fromEntries(
    Object.entries(parts).filter(([name, value]) => value !== undefined && usesTuning(name as keyof Tuning, category)),
  ) as Tuning;
}
