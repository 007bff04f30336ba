import type { DetectionHealth } from '../../detection/detections/summaries/summaries.schema.ts';

const healthWeights: Record<DetectionHealth, number> = {
  healthy: 1,
  warning: 0.7,
  gap: 0.6,
  paused: 0.4,
  failing: 0.3,
  stopped: 0,
  disabled: 0,
};
const healthReasons: Partial<Record<DetectionHealth, string>> = {
  warning: 'Its query has warnings or its connection does not exist.',
  gap: 'Time was not examined.',
  paused: 'Its connection failed.',
  failing: 'Its runs fail.',
  stopped: 'The service disabled it.',
  disabled: 'It is disabled.',
};
const reviewedMin = 5;

export type WeighedDetection = {
  health: DetectionHealth;
  /** Finished runs of the last 30 days. */
  runs: number;
  hasTests: boolean;
  /** Hits that people judged, and how many of them were true positives. */
  reviewed: number;
  truePositives: number;
};

/**
 * Returns how far a detection can be relied on, 0 to 1, and why it is less than 1. The factors: its health, 0.5 without a finished run in 30
 * days, 0.9 without tests, and 0.5 to 1 by its precision once five hits are judged.
 */
export function weighDetection(detection: WeighedDetection): { weight: number; reasons: string[] } {
  const { health, runs, hasTests, reviewed, truePositives } = detection;
  const reasons: string[] = [];
  let weight = healthWeights[health];
  const lower = (factor: number, reason: string | undefined): void => {
    weight *= factor;
    if (factor < 1 && reason) reasons.push(reason);
  };
  if (healthReasons[health]) reasons.push(healthReasons[health]);
  if (runs === 0) lower(0.5, 'It has not run in 30 days.');
  if (!hasTests) lower(0.9, 'It has no tests.');
  if (reviewed >= reviewedMin) {
    const precision = truePositives / reviewed;
    lower(0.5 + precision / 2, `${truePositives} of ${reviewed} judged hits were true positives.`);
  }
  return { weight: round(weight), reasons };
}

/** Returns the coverage by several detections: 1 minus the product of what each leaves open. */
export const combineWeights = (weights: number[]): number =>
  round(1 - weights.reduce((open, weight) => open * (1 - weight), 1));

const round = (value: number): number => Math.round(value * 1000) / 1000;
