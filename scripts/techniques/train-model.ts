import { featureBits } from '../../src/feed/extraction/classifier/linear-model.ts';
import type { TrainingExample } from './examples.ts';
import type { TrainedModel } from './pack-model.ts';
import { calculateIdf, scaleRows, createRandom, trainSvm } from './svm.ts';

const dimensions = 1 << featureBits;

/**
 * Trains one machine per label with at least `examplesMin` examples. `threshold` returns the minimum margin of a label. `isWeighted`: rare features
 * weigh more.
 */
export function trainModel(
  examples: TrainingExample[],
  labels: string[],
  {
    examplesMin,
    threshold,
    positiveWeight = 4,
    isWeighted = true,
  }: { examplesMin: number; threshold: (label: string) => number; positiveWeight?: number; isWeighted?: boolean },
): TrainedModel {
  const useful = examples.filter(({ features }) => features.length > 1);
  const counts = new Map<string, number>();
  for (const example of useful) for (const label of example.labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const kept = labels.filter((label) => (counts.get(label) ?? 0) >= examplesMin);
  const features = useful.map((example) => example.features);
  const idf = calculateIdf(features, dimensions).map((value) => (isWeighted ? value : Math.min(value, 1)));
  const rows = scaleRows(features, idf);
  const machines = kept.map((label) =>
    trainSvm(
      rows,
      Int8Array.from(useful, (example) => (example.labels.includes(label) ? 1 : -1)),
      dimensions,
      { cost: 0.5, positiveWeight, epochs: 8, random: createRandom(7) },
    ),
  );
  return { labels: kept, thresholds: kept.map(threshold), machines, idf };
}
